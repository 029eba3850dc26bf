import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { PAGES, ROOT, routeOf } from './pages.js'

const INDEX = 'docs/README.md'
const HEADING = /^(#{2,3}) (.+)$/
const ROW = /^\| *\[([^\]]+)\]\(([^)#\s]+)\) *\|/

/** The groups of docs/README.md, its headings and the first column of its tables: the two can't disagree. */
export function sidebar() {
  return groupsOf(readFileSync(join(ROOT, INDEX), 'utf8'))
}

export function groupsOf(index) {
  const groups = []
  let open
  for (const line of index.split('\n')) {
    const [, marks, heading] = HEADING.exec(line) ?? []
    if (heading !== undefined) {
      open = { text: heading, items: [] }
      const parent = marks.length === 3 ? groups.at(-1)?.items : undefined
      ;(parent ?? groups).push(open)
      continue
    }
    const [, text, link] = ROW.exec(line) ?? []
    if (text !== undefined) itemsOf(open, line).push({ text, link: linkOf(link) })
  }
  return groups
}

function itemsOf(open, line) {
  if (open === undefined) throw new Error(`${INDEX}: this row stands under no heading: ${line}`)
  return open.items
}

function linkOf(link) {
  const page = posix.join(posix.dirname(INDEX), link)
  if (!PAGES.includes(page)) throw new Error(`${INDEX} links to ${link}, which is no page of the site`)
  return `/${routeOf(page).replace(/\.md$/, '')}`
}
