import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FAULTS_PAGE, filesToRun, hasTitle, ownFiles, readFaults } from './faults-page.js'

const faults = readFaults()

describe(FAULTS_PAGE, () => {
  it('has an entry for each fault from B-01 to B-75, and no second one', () => {
    const ids = faults.flatMap(({ id }) => id ?? [])
    expect(ids.toSorted()).toEqual(Array.from({ length: 75 }, (_, index) => `B-${String(index + 1).padStart(2, '0')}`))
  })

  it.each(faults.map((fault) => [fault.id ?? fault.text.slice(0, 60), fault] as const))(
    'tells for %s where it was seen, and by which tests it is kept away, or why it can not be here',
    (_, { id, text, tests }) => {
      if (id !== undefined) expect(text).toMatch(/\(`[^)]+`[^)]*\)|\(PostgreSQL manual, /)
      if (tests.length === 0) expect(text).toContain("Doesn't apply: ")
      expect(tests.filter(({ path }) => !existsSync(path)).map(({ path }) => path)).toEqual([])
      expect(tests.filter((test) => !hasTitle(test))).toEqual([])
    },
  )

  it('names every file of tests in this folder', () => {
    const named = new Set(faults.flatMap(({ tests }) => tests.map(({ path }) => path)))
    expect(ownFiles().filter((path) => !named.has(path))).toEqual(['test/faults/faults-page.test.ts'])
  })

  it('decides what is run for it', () => {
    expect(filesToRun(false)).toEqual(expect.arrayContaining([...ownFiles().filter((path) => !/\.slow\./.test(path))]))
    expect(filesToRun(true).length).toBeGreaterThan(0)
    expect(filesToRun(true).filter((path) => !path.endsWith('.slow.test.ts'))).toEqual([])
  })

  it('would have a test found that is not there', () => {
    const path = 'test/faults/faults-page.test.ts'
    expect(hasTitle({ path, title: 'decides what is run for it' })).toBe(true)
    expect(hasTitle({ path, title: 'decides what is run' })).toBe(false)
    expect(hasTitle({ path, title: './faults-page.js' })).toBe(false)
  })
})
