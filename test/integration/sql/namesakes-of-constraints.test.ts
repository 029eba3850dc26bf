import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from './create-task-type.js'
import { moveClock } from './move-clock.js'
import { refusalOf } from './refusal-of.js'
import { rowsOf, scalarOf } from './rows-of.js'

// The name of a constraint is its table's: others in the schema may have one of the same name, and of another kind.
const database = await createDatabase()
const client = await database.client()

beforeAll(async () => {
  await client.query(`
    create table public.orders (id bigint primary key);
    create table tasks.receipts (order_id bigint constraint of_order references public.orders);
    create table tasks.notes (order_id bigint constraint of_note references public.orders deferrable);
    insert into public.orders values (1)`)
  await createTaskType(client, 'bill', {
    columns: `order_id bigint default 1 constraint of_order references public.orders deferrable initially deferred,
      note_id bigint constraint of_note references public.orders deferrable initially deferred`,
    settings: "storage_time => '0'",
  })
  await client.query(
    'create table tasks.copies (bill_id bigint constraint of_bill references tasks.bill deferrable initially deferred)',
  )
  await client.query('create table tasks.prints (bill_id bigint constraint of_bill references public.orders)')
})

const enqueue = () => scalarOf<string>(client, 'insert into tasks.bill default values returning id')
const acquire = () => rowsOf(client, 'select id, lost_count from tasks.acquire_tasks_bill(10)')

describe('a task table whose deferred foreign key has a namesake that is not deferred', () => {
  it('has its tasks rescued', async () => {
    const id = await enqueue()
    expect(await acquire()).toEqual([{ id, lost_count: 0 }])
    await moveClock(client, '2 minutes')
    expect(await acquire()).toEqual([{ id, lost_count: 1 }])
    expect(await scalarOf(client, 'select tasks.finish_tasks_bill($1)', [id])).toBe('finished')
    await moveClock(client, '0')
  })

  it('has its tasks finished, and what another row refers to is kept', async () => {
    const [held, free] = [await enqueue(), await enqueue()]
    await client.query('insert into tasks.copies values ($1)', [held])
    await acquire()
    await client.query('select tasks.finish_tasks_bill(id) from tasks.bill order by id')
    expect(await rowsOf(client, 'select id, finished_at is not null as finished from tasks.bill')).toEqual([
      { id: held, finished: true },
    ])
    expect(free).not.toBe(held)
    expect(await scalarOf(client, "select tasks.clean_tasks_bill('0')")).toBe('0')
    await client.query('truncate tasks.copies')
    expect(await scalarOf(client, "select tasks.clean_tasks_bill('0')")).toBe('1')
  })

  it('leaves both as they were for the rest of the transaction', async () => {
    const id = await enqueue()
    await acquire()
    await client.query('begin')
    await client.query('select tasks.finish_tasks_bill($1)', [id])
    await client.query('insert into tasks.bill (note_id) values (2)') // Deferred: refused at COMMIT, or made good before.
    await client.query('insert into public.orders values (2)')
    await client.query('savepoint before')
    expect((await refusalOf(client.query('insert into tasks.notes values (3)'))).constraint).toBe('of_note')
    await client.query('rollback to before; commit')
    expect(await scalarOf(client, 'select count(*) from tasks.bill where note_id = 2')).toBe('1')
  })
})
