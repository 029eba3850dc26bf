import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { isFile, PAGES, ROOT, routeOf } from './pages.js'

/** Files of the repository that pages link to and that are no pages: the site shows them as text. */
const files = new Set()

/**
 * Pages link to each other, and to source files, as they stand in the repository, so that they can be read on GitHub. On the site
 * they stand elsewhere: this turns the links. What is neither a page nor a file stays, and fails the build as a dead link.
 */
export function repositoryLinks(markdown) {
  const open =
    markdown.renderer.rules.link_open ?? ((tokens, at, options, _, self) => self.renderToken(tokens, at, options))
  markdown.renderer.rules.link_open = (tokens, at, options, environment, self) => {
    const token = tokens[at]
    const href = token.attrGet('href')
    if (href !== null) token.attrSet('href', turned(href, environment.realPath ?? environment.path))
    return open(tokens, at, options, environment, self)
  }
}

/** Puts the files that were linked to beside the pages, once these are built. */
export function copyLinkedFiles({ outDir }) {
  for (const file of files) {
    mkdirSync(dirname(join(outDir, textOf(file))), { recursive: true })
    copyFileSync(join(ROOT, file), join(outDir, textOf(file)))
  }
}

function turned(href, page) {
  if (/^([a-z]+:|#|\/)/i.test(href)) return href
  const [path, anchor] = href.split('#')
  const target = posix.join(posix.dirname(fromRoot(page)), path)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (PAGES.includes(target)) return `/${routeOf(target)}${hash}`
  if (!isFile(target)) return `/${target.replace(/\/$/, '')}${hash}`
  files.add(target)
  return `/${textOf(target)}`
}

function fromRoot(page) {
  return page.startsWith(ROOT) ? page.slice(ROOT.length + 1).replaceAll('\\', '/') : page
}

/** A browser shows .txt, whatever it would do with .ts and .sql. */
function textOf(file) {
  return `files/${file}.txt`
}
