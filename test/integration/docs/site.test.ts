import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { allPages, ROOT } from './pages.js'

interface Group {
  readonly text: string
  readonly link?: string
  readonly items?: readonly Group[]
}

const SITE = join(ROOT, 'docs', '.vitepress')

async function load(file: string): Promise<Record<string, (...args: unknown[]) => unknown>> {
  return (await import(pathToFileURL(join(SITE, file)).href)) as Record<string, (...args: unknown[]) => unknown>
}

function linksOf(groups: readonly Group[]): readonly string[] {
  return groups.flatMap(({ link, items = [] }) => [...(link === undefined ? [] : [link]), ...linksOf(items)])
}

describe('the site of the documentation', async () => {
  const { sidebar, groupsOf } = await load('sidebar.js')
  const { routeOf } = await load('pages.js')

  it('is grouped by what the reader is after', () => {
    const groups = sidebar?.() as readonly Group[]
    expect(groups.map(({ text }) => text)).toEqual(['Start', 'Guides', 'Reference', 'Explanations', 'Decisions'])
  })

  it('has each page of docs/ in its sidebar once', () => {
    const pages = allPages().filter(({ path }) => path.startsWith('docs/') && path !== 'docs/README.md')
    const routes = pages.map(({ path }) => `/${String(routeOf?.(path)).replace(/\.md$/, '')}`)
    const ofDocs = linksOf(sidebar?.() as readonly Group[]).filter((link) => link !== '/examples')
    expect([...ofDocs].sort()).toEqual([...routes].sort())
  })

  it('would have a row of the index found that leads to no page, or stands under no heading', () => {
    const row = '| [Quickstart](quickstart.md) | see it work |'
    expect(groupsOf?.(`## Start\n${row}`)).toEqual([
      { text: 'Start', items: [{ text: 'Quickstart', link: '/quickstart' }] },
    ])
    expect(() => groupsOf?.(row)).toThrow('under no heading')
    expect(() => groupsOf?.('## Start\n| [Gone](gone.md) | x |')).toThrow('links to gone.md')
  })
})
