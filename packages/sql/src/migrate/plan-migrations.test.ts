import { describe, expect, it } from 'vitest'
import type { AppliedMigration } from './applied-migrations.js'
import type { Migration } from './migration.js'
import { planMigrations } from './plan-migrations.js'

const FILES: readonly Migration[] = ['create_a', 'create_b', 'create_c'].map((name, index) => ({
  number: index + 1,
  name,
  body: '',
  checksum: `sum of ${name}`,
}))

function applied(number: number, name: string, more: Partial<AppliedMigration> = {}): AppliedMigration {
  return { number, name, checksum: `sum of ${name}`, breaking: false, appliedAt: new Date(0), ...more }
}

const RECORD = [applied(1, 'create_a'), applied(2, 'create_b'), applied(3, 'create_c')]

const numbers = (list: ReadonlyArray<{ number: number }>) => list.map(({ number }) => number)

describe('planMigrations', () => {
  it('has everything to apply where nothing is recorded', () => {
    const plan = planMigrations(FILES, [])
    expect(numbers(plan.pending)).toEqual([1, 2, 3])
    expect(plan.problem).toBeUndefined()
  })

  it('has nothing to apply where all is recorded', () => {
    const plan = planMigrations(FILES, RECORD)
    expect(numbers(plan.pending)).toEqual([])
    expect(numbers(plan.alreadyApplied)).toEqual([1, 2, 3])
    expect(numbers(plan.unverified)).toEqual([])
  })

  it('names those that psql applied, whose checksum nobody has recorded', () => {
    const plan = planMigrations(FILES, [applied(1, 'create_a'), applied(2, 'create_b', { checksum: null })])
    expect(numbers(plan.unverified)).toEqual([2])
    expect(numbers(plan.pending)).toEqual([3])
    expect(plan.problem).toBeUndefined()
  })

  it('refuses another checksum, and another name of the same number', () => {
    const other = planMigrations(FILES, [applied(1, 'create_a', { checksum: 'else' })])
    expect(other.problem).toMatchObject({ code: 'MIGRATION_CHANGED', migration: '0001_create_a' })
    const renamed = planMigrations(FILES, [applied(1, 'create_x', { checksum: null })])
    expect(renamed.problem).toMatchObject({ code: 'MIGRATION_CHANGED', migration: '0001_create_a' })
  })

  it('stays away from a database that a later version has shut it out of', () => {
    const plan = planMigrations(FILES, [...RECORD, applied(4, 'drop_a', { breaking: true })])
    expect(plan.problem).toMatchObject({ code: 'DATABASE_NEWER', migration: '0004_drop_a' })
  })

  it('works with a database that is only newer', () => {
    const plan = planMigrations(FILES, [...RECORD, applied(4, 'create_d')])
    expect(plan.problem).toBeUndefined()
    expect(numbers(plan.unknown)).toEqual([4])
    expect(numbers(plan.pending)).toEqual([])
  })
})
