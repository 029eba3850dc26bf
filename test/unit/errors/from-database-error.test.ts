import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PgTasksSqlError } from '@pg-tasks/sql'
import { describe, expect, it } from 'vitest'
import { DatabaseRaisedError, TaskNotRunningError } from '../../../packages/client/src/errors/database-errors.js'
import { errorCodes } from '../../../packages/client/src/errors/error-codes.js'
import { fromDatabaseError, knownSqlStates } from '../../../packages/client/src/errors/from-database-error.js'
import { PgTasksError } from '../../../packages/client/src/errors/pg-tasks-error.js'

const MIGRATIONS = join(import.meta.dirname, '..', '..', '..', 'migrations')

function raised(code: string): Error {
  return Object.assign(new Error('finish: task 7 is finished, not running'), {
    code,
    hint: 'Roll back.',
    table: 'mail',
  })
}

describe('fromDatabaseError', () => {
  it('gives what our SQL functions raise a class, and keeps what the database said', () => {
    const original = raised('TQ001')
    const error = fromDatabaseError(original)
    expect(error).toBeInstanceOf(TaskNotRunningError)
    expect(error).toMatchObject({
      name: 'TaskNotRunningError',
      code: 'TASK_NOT_RUNNING',
      sqlState: 'TQ001',
      message: 'finish: task 7 is finished, not running',
      hint: 'Roll back.',
      table: 'mail',
      cause: original,
    })
  })

  it('tells who misses rights how to come to them, and leaves a hint that is there', () => {
    const denied = Object.assign(new Error('permission denied for schema tasks'), { code: '42501', hint: undefined })
    expect(fromDatabaseError(denied)).toBe(denied)
    expect(denied.hint).toContain('tasks.grant_to')
    const frozen = Object.freeze(Object.assign(new Error('permission denied'), { code: '42501' }))
    expect(fromDatabaseError(frozen)).toBe(frozen)
    const hinted = Object.assign(new Error('permission denied'), { code: '42501', hint: 'Ask Ann.' })
    expect(fromDatabaseError(hinted)).toMatchObject({ hint: 'Ask Ann.' })
  })

  it('has a class and a code of its own for every SQLSTATE', () => {
    const errors = knownSqlStates.map((state) => fromDatabaseError(raised(state)) as DatabaseRaisedError)
    for (const error of errors) {
      expect(error).toBeInstanceOf(DatabaseRaisedError)
      expect(errorCodes).toContain(error.code)
      expect(error.name).not.toBe('PgTasksError')
    }
    expect(new Set(errors.map((error) => error.code)).size).toBe(errors.length)
  })

  it('knows every SQLSTATE that the migrations raise, and no other', () => {
    const files = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.sql'))
    const sql = files.map((file) => readFileSync(join(MIGRATIONS, file), 'utf8')).join()
    const states = [...sql.matchAll(/'(TQ\d{3})'/g)].map(([, state]) => state)
    expect([...new Set(states)].sort()).toEqual([...knownSqlStates].sort())
  })

  it('gives the errors of our statements the same base', () => {
    const original = new PgTasksSqlError('INVALID_ARGUMENT', 'connection is undefined')
    const error = fromDatabaseError(original)
    expect(error).toBeInstanceOf(PgTasksError)
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: 'connection is undefined', cause: original })
  })

  it('gives back everything else as it is', () => {
    const foreign = [
      raised('23505'),
      raised('toString'),
      raised('__proto__'),
      new Error('x'),
      'TQ001',
      null,
      undefined,
      7,
    ]
    for (const value of foreign) expect(fromDatabaseError(value)).toBe(value)
  })
})
