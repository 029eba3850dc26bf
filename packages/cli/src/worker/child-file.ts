/** A program of this folder, as this one runs: compiled, or from source. */
export function childFile(name: string): URL {
  return new URL(`./${name}.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
}
