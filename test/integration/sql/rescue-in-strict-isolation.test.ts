import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { rowsOf, scalarOf } from './rows-of.js'

const database = await createDatabase()
const client = await database.client()
const other = await database.client()
const worker = '00000000-0000-4000-8000-000000000001'
const acquire = (of = client) => rowsOf(of, 'select id, lost_count from tasks.acquire_tasks_bill(10)')

beforeAll(() => createTaskType(client, 'bill'))

describe.each(['repeatable read', 'serializable'])('where transactions are %s unless told otherwise', (isolation) => {
  beforeEach(async () => {
    await moveClock(other, '0')
    await other.query('truncate tasks.bill restart identity; delete from tasks.leases')
    await other.query('insert into tasks.bill default values')
    await client.query(`set default_transaction_isolation = '${isolation}'`)
  })

  it('an acquire brings back the task of a caller that has died', async () => {
    expect(await acquire()).toEqual([{ id: '1', lost_count: 0 }])
    await moveClock(other, '2 minutes')
    expect(await acquire()).toEqual([{ id: '1', lost_count: 1 }])
  })

  it('an acquire brings back the task of a worker that has died, and forgets the worker', async () => {
    await other.query('select tasks.acquire_tasks_bill(1, $1)', [worker])
    await moveClock(other, '2 minutes')
    expect(await acquire()).toEqual([{ id: '1', lost_count: 1 }])
    expect(await scalarOf(client, 'select count(*) from tasks.leases')).toBe('0')
  })

  it('an acquire whose snapshot is older than a heartbeat leaves the worker its task', async () => {
    await other.query('select tasks.acquire_tasks_bill(1, $1)', [worker])
    await client.query('begin')
    await client.query('select from tasks.bill')
    await moveClock(other, '2 minutes')
    await other.query("select tasks.heartbeat_tasks_bill($1, '{}', '{}')", [worker])
    expect(await acquire()).toEqual([])
    await client.query('commit')
    expect(await scalarOf(client, 'select lost_count from tasks.bill')).toBe(0)
  })

  it('an acquire whose snapshot is older than the end of a task passes it by and gets another', async () => {
    await acquire(other)
    await other.query('insert into tasks.bill default values')
    await client.query('begin')
    await client.query('select from tasks.bill')
    await moveClock(other, '2 minutes')
    await other.query('select tasks.finish_tasks_bill(1)')
    expect(await acquire()).toEqual([{ id: '2', lost_count: 0 }])
    await client.query('commit')
  })
})
