import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** One file, of this folder or of that with the assets; nothing leads elsewhere. */
const PLAIN = /^(assets\/)?[\w-][\w.-]*$/

/** Where vite has put the pages; from the sources, beside them. */
const FOLDER =
  basename(dirname(import.meta.dirname)) === 'dist'
    ? join(import.meta.dirname, '..', 'web')
    : join(import.meta.dirname, '..', 'dist', 'web')

/** A built file; undefined if there is none of this name. */
export async function webFile(path: string): Promise<Response | undefined> {
  const type = TYPES[extname(path)]
  if (type === undefined || !PLAIN.test(path)) return undefined
  try {
    const content = await readFile(join(FOLDER, path))
    // Names carry a digest of their content, so they may be kept for ever.
    const cache = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    return new Response(new Uint8Array(content), { headers: { 'content-type': type, 'cache-control': cache } })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The page, which finds its files and its API under the base path. */
export async function webPage(basePath: string): Promise<Response> {
  const page = await readFile(join(FOLDER, 'index.html'), 'utf8').catch(() => {
    throw new Error('The pages of the dashboard are not built: run "npm run build" first.')
  })
  return new Response(page.replace('<base href="/" />', `<base href="${basePath}/" />`), {
    headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  })
}
