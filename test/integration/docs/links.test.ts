import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPages, type Page, proseOf, ROOT } from './pages.js'

const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g
const HEADING = /^#{1,6} +(.+)$/gm

function linksOf(page: Page): readonly string[] {
  // Code spans may stand in a link's text, so only blocks are left out.
  const text = page.text.replaceAll(/^\s*(`{3,})[\s\S]*?^\s*\1\s*$/gm, '')
  return [...text.matchAll(LINK)].map((match) => match[1] ?? '')
}

/** As GitHub makes them: lower case, no punctuation, spaces to hyphens. */
function anchorsOf(page: Page): ReadonlySet<string> {
  const text = page.text.replaceAll(/^\s*(`{3,})[\s\S]*?^\s*\1\s*$/gm, '')
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.matchAll(HEADING)) {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-')
    let unique = anchor
    for (let again = 1; anchors.has(unique); again += 1) unique = `${anchor}-${again}`
    anchors.add(unique)
  }
  return anchors
}

function brokenLinks(page: Page, pages: readonly Page[]): readonly string[] {
  return linksOf(page).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page.path : join(dirname(page.path), path).replaceAll('\\', '/')
    if (!existsSync(join(ROOT, target))) return true
    if (anchor === undefined) return false
    const targetPage = pages.find((one) => one.path === target)
    return targetPage === undefined || !anchorsOf(targetPage).has(anchor)
  })
}

describe('the documentation', () => {
  const pages = allPages()

  it.each(pages.map((page) => [page.path, page] as const))('links to what is there: %s', (_, page) => {
    expect(brokenLinks(page, pages)).toEqual([])
  })

  it('would have a broken link found', () => {
    const text =
      '# One `two` (three)\n[a](#one-two-three) [b](nowhere.md) [c](#gone) [d](https://example.com/x) [e](README.md#gone)'
    expect(brokenLinks({ path: 'page.md', text, blocks: [] }, pages)).toEqual([
      '#one-two-three',
      'nowhere.md',
      '#gone',
      'README.md#gone',
    ])
    const inPlace = { path: 'README.md', text, blocks: [] }
    expect(brokenLinks(inPlace, [inPlace])).toEqual(['nowhere.md', '#gone', 'README.md#gone'])
  })

  it('can be found from the map: every page is linked from docs/README.md', () => {
    const map = pages.find((page) => page.path === 'docs/README.md')
    const linked = new Set(
      map === undefined ? [] : linksOf(map).map((link) => join('docs', link).replaceAll('\\', '/')),
    )
    const docs = pages.filter((page) => page.path.startsWith('docs/') && page.path !== 'docs/README.md')
    const unlinked = docs.filter((page) => !linked.has(page.path) && !page.path.startsWith('docs/decisions/'))
    expect(unlinked.map((page) => page.path)).toEqual([])
  })

  it.each(pages.map((page) => [page.path, page] as const))('keeps to the words of the glossary: %s', (_, page) => {
    expect(
      [...proseOf(page).matchAll(/\b(jobs?|queue items?|visibility timeout|purge[sd]?|prune[sd]?)\b/gi)].map(
        ([word]) => word,
      ),
    ).toEqual([])
  })
})
