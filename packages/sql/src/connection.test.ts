import { describe, expect, it } from 'vitest'
import { toQueryable } from './connection.js'

class Database {
  connect(): void {}
}

describe('toQueryable', () => {
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'postgres://localhost'],
    ['a promise (is an await missing?)', Promise.resolve({})],
    ['the class Database', Database],
    ['the function connect', function connect() {}],
    ['an object of Database', new Database()],
    ['an object of Object', { query: 'select 1' }],
    ['the number 5', 5],
  ])('refuses %s and says what it takes', (described, connection) => {
    const refused = expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(
        new RegExp(`^connection is ${described.replace(/[()?]/g, '\\$&')}: give a pg Client.*Kysely`),
      ),
    })
    expect(() => toQueryable(connection as never)).toThrow(refused)
  })

  it('passes values on as they are, and none where there are none', async () => {
    const calls: unknown[][] = []
    const queryable = toQueryable({
      query: async (...call) => {
        calls.push(call)
        return { rows: [], rowCount: 0 }
      },
    })
    await queryable.query('select $1', Object.freeze(['a']))
    await queryable.query('select 1', [])
    await queryable.query('select 1')
    expect(calls).toEqual([['select $1', ['a']], ['select 1'], ['select 1']])
  })
})
