import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { allPages } from '../docs/pages.js'

it.each(['from-knex.ts', 'from-prisma.ts'])('the guide shows the recipe that is tested: %s', (file) => {
  const page = allPages().find(({ path }) => path === 'docs/guides/adapters.md')
  const tested = readFileSync(join(import.meta.dirname, file), 'utf8')
  expect(page?.blocks.map(({ content }) => content)).toContain(tested)
})
