import { beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()
const owner = await database.client()
const other = await database.client()

const WORKER = '00000000-0000-4000-8000-000000000001'
const ONE = `'{"one_transaction": true}'`
const OID = `'tasks.mail'::regclass::oid`

beforeEach(async () => {
  for (const one of [owner, other]) await one.query('rollback')
  await session.query('drop table if exists tasks.mail cascade; delete from tasks.batches')
  await createTaskType(session, 'mail', { columns: 'shop integer' })
  await session.query('insert into tasks.mail (shop) select g from generate_series(1, 4) g')
})

/** Acquires in an open transaction, as a batch does. */
async function claim(client = owner, count = 2): Promise<string[]> {
  await client.query('begin')
  const rows = await rowsOf<{ id: string }>(client, `select id from tasks.acquire_tasks_mail($1, $2, true, ${ONE})`, [
    count,
    WORKER,
  ])
  return rows.map(({ id }) => id)
}

const open = (ids: readonly string[]) => scalarOf(session, `select tasks.open_batch(${OID}, $1, $2)`, [WORKER, ids])
const suspect = () => scalarOf(session, `select tasks.suspect_batches(${OID})::int`)
const records = () => rowsOf(session, 'select task_ids from tasks.batches order by id')
const lostCounts = () =>
  rowsOf(session, 'select lost_count as lost, execution_count as count from tasks.mail order by id')

describe('acquire for one transaction', () => {
  it('takes no lease, no suspect, and nothing of a type with limits', async () => {
    await session.query('update tasks.mail set lost_count = 2 where id = 1')
    expect(await claim(owner, 10)).toEqual(['2', '3', '4'])
    expect(await rowsOf(owner, 'select * from tasks.leases')).toEqual([])
    await owner.query('rollback')
    await session.query(`select tasks.limit_rate('tasks', 'mail', 100)`)
    expect(await claim(owner, 10)).toEqual([])
  })

  it.each([
    ['without a worker', `select tasks.acquire_tasks_mail(1, null, true, ${ONE})`],
    ['with another option', `select tasks.acquire_tasks_mail(1, '${WORKER}', true, '{"once": true}')`],
  ])('is refused %s', async (_, call) => {
    expect((await refusalOf(session.query(call))).code).toBe('TQ003')
  })
})

describe('the record of a batch', () => {
  it('goes with its commit', async () => {
    const ids = await claim()
    const id = await open(ids)
    await owner.query('select tasks.close_batch($1)', [id])
    expect(await records()).toEqual([{ task_ids: ['1', '2'] }])
    await owner.query('commit')
    expect(await records()).toEqual([])
  })

  it('stays when its transaction is rolled back; who claims one of its tasks next is told so', async () => {
    const id = await open(await claim())
    await owner.query('select tasks.close_batch($1)', [id])
    await owner.query('rollback')
    expect(await open(await claim(other, 1))).toBeNull()
    await other.query('rollback')
    expect(await suspect()).toBe(2)
    expect(await records()).toEqual([])
    expect(await lostCounts()).toEqual([
      { lost: 2, count: 0 },
      { lost: 2, count: 0 },
      { lost: 0, count: 0 },
      { lost: 0, count: 0 },
    ])
    expect(await claim(other, 10)).toEqual(['3', '4'])
  })

  it('of a living batch is left alone, before and after its owner has taken it away', async () => {
    const id = await open(await claim())
    expect(await suspect()).toBe(0)
    expect(await records()).toEqual([{ task_ids: ['1', '2'] }])
    await owner.query('select tasks.close_batch($1)', [id])
    expect(await suspect()).toBe(0)
    await owner.query('commit')
    expect(await records()).toEqual([])
  })

  it('keeps only the tasks that somebody else has locked', async () => {
    await open(await claim())
    await owner.query('rollback')
    await other.query('begin; select from tasks.mail where id = 2 for update')
    expect(await suspect()).toBe(1)
    expect(await records()).toEqual([{ task_ids: ['2'] }])
    await other.query('rollback')
    expect(await suspect()).toBe(1)
    expect(await records()).toEqual([])
  })

  it('forgets tasks that have ended or run with a lease', async () => {
    await open(await claim())
    await owner.query('rollback')
    await session.query('select tasks.acquire_tasks_mail(1)')
    await session.query('select tasks.cancel_tasks_mail(2)')
    expect(await suspect()).toBe(0)
    expect(await records()).toEqual([])
  })

  it('is dealt with although a trigger refuses one of its tasks', async () => {
    await open(await claim())
    await owner.query('rollback')
    await session.query(`create or replace function refuse_one() returns trigger language plpgsql as
      $$ begin if new.id = 1 and new.lost_count > 0 then raise 'not this one'; end if; return new; end $$;
      create trigger refuse_one before update on tasks.mail for each row execute function refuse_one()`)
    expect(await suspect()).toBe(1)
    expect(await records()).toEqual([])
    expect((await lostCounts())[1]).toEqual({ lost: 2, count: 0 })
  })

  it('is seen by maintenance, where no worker meets its tasks, and goes with its type', async () => {
    await open(await claim())
    await owner.query('rollback')
    await session.query(`update tasks.batches set opened_at = now() - interval '1 hour' where task_ids @> '{1}'`)
    await session.query('select tasks.maintain()')
    expect(await records()).toEqual([])
    expect((await lostCounts())[0]).toEqual({ lost: 2, count: 0 })
    await open(['3'])
    await session.query(`select tasks.unregister('tasks', 'mail')`)
    expect(await records()).toEqual([])
  })

  it('is stepped over once it is gone, and one that commits late is not', async () => {
    for (let round = 0; round < 3; round += 1) {
      const id = await open(['1'])
      await session.query('select tasks.close_batch($1)', [id])
    }
    // Written before the looks that come, and committed after them.
    await other.query('begin')
    await other.query(`select tasks.open_batch(${OID}, $1, '{4}')`, [WORKER])
    for (let round = 0; round < 3; round += 1) {
      const id = await open(['1'])
      await session.query('select tasks.close_batch($1)', [id])
    }
    await other.query('commit')
    expect(await open(['4'])).toBeNull()
  })
})
