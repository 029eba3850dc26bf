import { type Claimed, Task } from '@pg-tasks/client'
import type { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTaskType, readTask } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { CONNECTIONS } from './connections.js'

const database = await createDatabase()

interface Columns {
  payload: string
}

class Letter extends Task<Columns> {
  override async run(_task: Claimed<Columns>): Promise<void> {}
}

const letter = new Letter({ preparedStatements: true })

beforeAll(() => createTaskType(database.pool, 'letter', { columns: 'payload text not null' }))

async function preparedOn(client: Client): Promise<string[]> {
  const { rows } = await client.query('select statement from pg_prepared_statements order by prepare_time')
  return rows.map((row) => row.statement)
}

describe.each(CONNECTIONS)('a task type with preparedStatements, on $name', ({ use }) => {
  it('does the same as without', async () => {
    await use(database, async (connection) => {
      for (let round = 1; round <= 3; round += 1) {
        const first = await letter.enqueue(connection, { payload: 'a' })
        const ids = [first, ...(await letter.enqueueMany(connection, [{ payload: 'b' }, { payload: 'c' }]))]
        const claimed = await letter.acquire(connection, 3)
        expect(claimed.map(({ id, payload }) => [id, payload])).toEqual(ids.map((id, index) => [id, 'abc'[index]]))
        const [a, b, c] = claimed as [Claimed<Columns>, Claimed<Columns>, Claimed<Columns>]
        await letter.finish(connection, a, { comment: 'done' })
        await expect(letter.retry(connection, b, { delayMs: 60_000 })).resolves.toBe('scheduled')
        await expect(letter.cancel(connection, c)).resolves.toBe('running')
      }
    })
  })
})

it('has the server parse each statement once, and acquire anew each time', async () => {
  const client = await database.client()
  for (let round = 1; round <= 4; round += 1) {
    const id = await letter.enqueue(client, { payload: 'a' })
    const [claimed] = await letter.acquire(client, 1)
    expect(claimed?.id).toBe(id)
    await letter.finish(client, claimed as Claimed<Columns>)
  }
  const statements = await preparedOn(client)
  expect(statements.filter((statement) => statement.includes('finish_tasks_letter'))).toHaveLength(1)
  expect(statements.filter((statement) => statement.includes('acquire'))).toEqual([])
  expect(statements.length).toBeLessThanOrEqual(4)
})

it('survives a change of the table', async () => {
  const client = await database.client()
  for (const change of [
    'select',
    'alter table tasks.letter add column extra integer',
    'alter table tasks.letter drop column extra',
  ]) {
    await client.query(change)
    for (let round = 1; round <= 6; round += 1) {
      const id = await letter.enqueue(client, { payload: 'a' })
      const [claimed] = await letter.acquire(client, 1)
      await letter.finish(client, claimed as Claimed<Columns>)
      expect(await readTask(database.pool, 'letter', id)).toMatchObject({ state: 'finished', payload: 'a' })
    }
  }
})
