import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { createTaskType } from '../sql/create-task-type.js'
import { refusalOf } from '../sql/refusal-of.js'
import { rowsOf, scalarOf } from '../sql/rows-of.js'

const database = await createDatabase()
const session = await database.client()

beforeAll(async () => {
  await createTaskType(session, 'member', { settings: 'max_retries => 0' })
  await createTaskType(session, 'deleted', { settings: "storage_time => '0'" })
  await createTaskType(session, 'done', { columns: 'album integer check (album < 100)' })
  for (const table of ['member', 'deleted']) await session.query(`select tasks.use_groups('tasks', '${table}')`)
})

async function createGroup(key: string, table: string, count: number, policy = 'always', album = 7): Promise<void> {
  await session.query('begin')
  await session.query("select tasks.create_group($1, 'tasks', 'done', $2, $3)", [key, { album }, policy])
  await session.query(`insert into tasks.${table} (group_key) select $1 from generate_series(1, $2)`, [key, count])
  await session.query('commit')
}

const acquire = (table: string) =>
  rowsOf<{ id: string; token: string }>(
    session,
    `select id, run_token as token from tasks.acquire_tasks_${table}(10000)`,
  )

const group = async (key: string) =>
  (
    await rowsOf(
      session,
      `select finished::int, failed::int, canceled::int, ended_at is not null as ended, callback_id is not null as callback
       from tasks.groups where key = $1`,
      [key],
    )
  )[0]

describe('a group', () => {
  it('counts how its members ended, and says so in the callback', async () => {
    await createGroup('mixed', 'member', 4)
    const [a, b, c, d] = await acquire('member')
    await session.query('select tasks.finish_tasks_member($1)', [a?.id])
    await session.query('select tasks.retry_tasks_member($1)', [b?.id])
    await session.query('select tasks.cancel_tasks_member($1)', [c?.id])
    expect(await group('mixed')).toMatchObject({ ended: false, callback: false })
    await session.query('delete from tasks.member where id = $1', [d?.id])
    expect(await group('mixed')).toEqual({ finished: 1, failed: 1, canceled: 2, ended: true, callback: true })
    expect(
      await scalarOf(
        session,
        "select comment from tasks.done d join tasks.groups g on g.callback_id = d.id where g.key = 'mixed'",
      ),
    ).toBe('group mixed: 1 finished, 1 failed, 2 canceled')
  })

  it('ends without a callback if a member failed and the policy is all_finished', async () => {
    await createGroup('strict', 'member', 2, 'all_finished')
    const [a, b] = await acquire('member')
    await session.query('select tasks.retry_tasks_member($1), tasks.finish_tasks_member($2)', [a?.id, b?.id])
    expect(await group('strict')).toMatchObject({ finished: 1, failed: 1, ended: true, callback: false })
  })

  it('no longer counts a failed member that was reset while others were unfinished', async () => {
    await createGroup('repaired', 'member', 2, 'all_finished')
    const [a, b] = await acquire('member')
    await session.query('select tasks.retry_tasks_member($1)', [a?.id])
    await session.query('select tasks.reset_tasks_member($1)', [a?.id])
    await session.query('select tasks.finish_tasks_member($1)', [b?.id])
    expect(await group('repaired')).toMatchObject({ finished: 1, failed: 0, ended: false })
    await acquire('member')
    await session.query('select tasks.finish_tasks_member($1)', [a?.id])
    expect(await group('repaired')).toMatchObject({ finished: 2, failed: 0, ended: true, callback: true })
  })

  it('lets its last member end another time where the callback had to wait too long', async () => {
    await createGroup('patient', 'member', 1)
    const [last] = await acquire('member')
    const other = await database.client()
    await other.query('begin; lock table tasks.done in share mode')
    await session.query("set lock_timeout to '50 ms'")
    const refusal = await refusalOf(session.query('select tasks.finish_tasks_member($1)', [last?.id]))
    await session.query('reset lock_timeout')
    await other.query('commit')
    expect(refusal.code).toBe('55P03')
    expect(await group('patient')).toMatchObject({ finished: 0, ended: false })
    await session.query('select tasks.finish_tasks_member($1)', [last?.id])
    expect(await group('patient')).toMatchObject({ finished: 1, ended: true, callback: true })
  })

  it('counts members that are deleted at their finish as finished', async () => {
    await createGroup('gone', 'deleted', 3)
    const runs = await acquire('deleted')
    await session.query('select * from tasks.finish_many_tasks_deleted($1, $2)', [
      runs.map(({ id }) => id),
      runs.map(({ token }) => token),
    ])
    expect(await group('gone')).toEqual({ finished: 3, failed: 0, canceled: 0, ended: true, callback: true })
  })

  it('waits for members that a member added, and for those of another type', async () => {
    await createGroup('growing', 'member', 1)
    const [a] = await acquire('member')
    await session.query('begin')
    await session.query("insert into tasks.deleted (group_key) values ('growing')")
    await session.query('select tasks.finish_tasks_member($1)', [a?.id])
    await session.query('commit')
    expect(await group('growing')).toMatchObject({ finished: 1, ended: false })
    const [b] = await acquire('deleted')
    await session.query('select tasks.finish_tasks_deleted($1)', [b?.id])
    expect(await group('growing')).toMatchObject({ finished: 2, ended: true, callback: true })
  })

  it('ends at once without members, and leaves nothing behind when its transaction rolls back', async () => {
    await createGroup('empty', 'member', 0)
    expect(await group('empty')).toMatchObject({ finished: 0, ended: true, callback: true })
    await session.query('begin')
    await session.query("select tasks.create_group('undone', 'tasks', 'done')")
    await session.query('rollback')
    expect(await group('undone')).toBeUndefined()
  })

  it('ends when its last unfinished member leaves it', async () => {
    await createGroup('left', 'member', 2)
    const [a, b] = await acquire('member')
    await session.query('select tasks.finish_tasks_member($1)', [a?.id])
    await session.query('update tasks.member set group_key = null where id = $1', [b?.id])
    expect(await group('left')).toMatchObject({ finished: 1, canceled: 0, ended: true, callback: true })
  })

  it('keeps the end of its last member when the callback is refused, and enqueues it on request', async () => {
    await createGroup('refused', 'member', 1, 'always', 100)
    const [a] = await acquire('member')
    await session.query('select tasks.finish_tasks_member($1)', [a?.id])
    expect(await group('refused')).toMatchObject({ finished: 1, ended: false })
    expect(await scalarOf(session, "select error from tasks.groups where key = 'refused'")).toContain(
      'check constraint',
    )
    await session.query("update tasks.groups set callback_columns = '{\"album\": 1}' where key = 'refused'")
    await session.query("select tasks.end_group('refused')")
    expect(await group('refused')).toMatchObject({ ended: true, callback: true })
  })

  it('is counted once per transaction, however many of its members end in it', async () => {
    await createGroup('large', 'member', 500)
    const runs = await acquire('member')
    await session.query('create table public.updates (key text)')
    await session.query(`create function public.note_update() returns trigger language plpgsql
      as $$ begin insert into public.updates values (new.key); return null; end $$`)
    await session.query(
      'create trigger note after update on tasks.groups for each row execute function public.note_update()',
    )
    await session.query('begin')
    for (const { id } of runs.slice(0, 250)) await session.query('select tasks.finish_tasks_member($1)', [id])
    await session.query('select * from tasks.finish_many_tasks_member($1, $2)', [
      runs.slice(250).map(({ id }) => id),
      runs.slice(250).map(({ token }) => token),
    ])
    await session.query('commit')
    // Once for the counts, once for the end.
    expect(await scalarOf(session, 'select count(*)::int from public.updates')).toBe(2)
    await session.query('drop trigger note on tasks.groups')
    expect(await group('large')).toEqual({ finished: 500, failed: 0, canceled: 0, ended: true, callback: true })
    expect(await scalarOf(session, 'select count(*)::int from tasks.group_ends')).toBe(0)
  })

  it('ends though a table of another type is no task table any more', async () => {
    await createTaskType(session, 'spoilt')
    await session.query("select tasks.use_groups('tasks', 'spoilt')")
    await session.query('alter table tasks.spoilt drop column group_key')
    await createGroup('unspoilt', 'member', 1)
    const [a] = await acquire('member')
    await session.query('select tasks.finish_tasks_member($1)', [a?.id])
    expect(await group('unspoilt')).toMatchObject({ finished: 1, ended: true, callback: true })
    await session.query('drop table tasks.spoilt cascade')
  })

  it('goes on after its type was unregistered and registered again', async () => {
    await session.query("select tasks.unregister('tasks', 'member')")
    await session.query("select tasks.register('tasks', 'member')")
    await session.query("select tasks.use_groups('tasks', 'member'), tasks.use_groups('tasks', 'member')")
    await createGroup('again', 'member', 1)
    const [a] = await acquire('member')
    await session.query('select tasks.finish_tasks_member($1)', [a?.id])
    expect(await group('again')).toMatchObject({ finished: 1, ended: true })
  })

  it.each([
    ["create_group('', 'tasks', 'done')", 'TQ003', /key/],
    ["create_group('mixed', 'tasks', 'done')", 'TQ003', /mixed/],
    ["create_group('x', 'tasks', 'nothing')", 'TQ004', /nothing/],
    ["create_group('x', 'tasks', 'done', '{}', 'some')", 'TQ003', /policy/],
    ["create_group('x', 'tasks', 'done', '{\"nothing\": 1}')", 'TQ003', /nothing/],
    ["create_group('x', 'tasks', 'done', '{\"comment\": 1}')", 'TQ003', /comment/],
    ["create_group('x', 'tasks', 'done', '[]')", 'TQ003', /columns/],
    ["use_groups('tasks', 'nothing')", 'TQ004', /nothing/],
    ['use_groups(null, null)', 'TQ004', /NULL/],
  ])('refuses %s', async (call, code, message) => {
    const refusal = await refusalOf(session.query(`select tasks.${call}`))
    expect(refusal.code).toBe(code)
    expect(refusal.message).toMatch(message)
  })
})
