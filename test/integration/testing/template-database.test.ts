import { drain, templateDatabase } from '@pg-tasks/client/testing'
import { migrate } from '@pg-tasks/sql'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uniqueName } from '../../support/names.js'
import { createTaskType, insertTasks } from '../../support/task-type.js'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { taskOf } from '../worker/start-worker.js'

let database: TestDatabase
const names: string[] = []

beforeAll(async () => {
  database = await createDatabase({ migrations: false })
})

afterAll(async () => {
  for (const name of names) await database.pool.query(`drop database if exists "${name}"`)
})

function newName(): string {
  const name = uniqueName('pg_tasks_test_kit')
  names.push(name)
  return name
}

async function withPool<Value>(connectionString: string, work: (pool: Pool) => Promise<Value>): Promise<Value> {
  const pool = new Pool({ connectionString })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

describe('a template database', () => {
  it('is made once, whoever asks at the same time, and gives each test a database of its own', async () => {
    const name = newName()
    let prepared = 0
    const prepare = (url: string) =>
      withPool(url, async (pool) => {
        prepared += 1
        await migrate(pool)
        await createTaskType(pool, 'kit')
      })
    const options = { connectionString: database.url, name, prepare }
    const [template] = await Promise.all([templateDatabase(options), templateDatabase(options)])
    expect(prepared).toBe(1)
    const [one, other] = await Promise.all([template.create(), template.create()])
    await withPool(one.connectionString, async (pool) => {
      await insertTasks(pool, 'kit', 2)
      expect(await drain(pool, taskOf('kit'))).toHaveLength(2)
    })
    await withPool(other.connectionString, async (pool) => {
      expect(await drain(pool, taskOf('kit'))).toEqual([])
      await one.drop()
    })
    await other.drop()
    const { rows } = await database.pool.query('select from pg_database where datname = any($1)', [
      [one.name, other.name],
    ])
    expect(rows).toEqual([])
  })

  it('is not there if it could not be prepared, and is made by the next', async () => {
    const name = newName()
    const broken = templateDatabase({
      connectionString: database.url,
      name,
      prepare: () => Promise.reject(new Error('no migrations')),
    })
    await expect(broken).rejects.toThrow('no migrations')
    const left = await database.pool.query('select datname from pg_database where starts_with(datname, $1)', [name])
    expect(left.rows).toEqual([])
    const template = await templateDatabase({ connectionString: database.url, name, prepare: async () => {} })
    await (await template.create()).drop()
  })
})
