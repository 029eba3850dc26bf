/** Pictures that stand in HTML, for their size: a path without `./` would be taken for the name of a package. */
export function relativeImages(markdown) {
  for (const rule of ['html_block', 'html_inline']) {
    const render = markdown.renderer.rules[rule]
    markdown.renderer.rules[rule] = (...words) =>
      render(...words).replaceAll(/(<img\b[^>]*?\bsrc=")(?![a-z]+:|[./])/gi, '$1./')
  }
}
