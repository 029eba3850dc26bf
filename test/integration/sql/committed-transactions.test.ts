import { committedTransactions } from '@pg-tasks/sql'
import { expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'

it('knows the committed from the rest: rolled back, open, unknown and of the future', async () => {
  const database = await createDatabase()
  const session = await database.client()
  const other = await database.client()
  const begin = async (client: typeof session): Promise<string> => {
    await client.query('begin')
    const { rows } = await client.query('select pg_current_xact_id()::text as id')
    return (rows[0] as { id: string }).id
  }
  const committed = await begin(session)
  await session.query('commit')
  const rolledBack = await begin(session)
  await session.query('rollback')
  const open = await begin(other)
  const ids = [committed, rolledBack, open, '9000000000000', '3']
  // The third transaction of a cluster is long forgotten, or is one that PostgreSQL itself has made and counts as committed.
  const found = await committedTransactions(session, ids)
  expect([...found].filter((id) => id !== '3')).toEqual([committed])
  await other.query('commit')
  expect(await committedTransactions(session, [open])).toEqual(new Set([open]))
  expect(await committedTransactions(session, [])).toEqual(new Set())
})
