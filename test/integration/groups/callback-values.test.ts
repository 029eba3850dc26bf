import { createGroup, Task } from '@pg-tasks/client'
import { expect, it } from 'vitest'
import { createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'

const database = await createDatabase()
await createTaskType(database.pool, 'sum_up', {
  columns: 'big bigint, file bytea, days date[], n numeric, extra jsonb',
})

class SumUp extends Task<{ big: bigint; file: Buffer; days: Date[]; n: number; extra: unknown }> {
  override async run() {}
}

it('a callback gets the values that enqueue would give it', async () => {
  const columns = {
    big: 12345678901234567n,
    file: Buffer.from([0, 255]),
    days: [new Date(2024, 2, 10)],
    n: Number.NaN,
    extra: { at: new Date(0) },
  }
  await createGroup(database.pool, 'all kinds', new SumUp(), columns)
  await new SumUp().enqueue(database.pool, columns)
  const { rows } = await database.pool.query(`select big, file, days::text, n, extra from tasks.sum_up order by id`)
  expect(rows[0]).toEqual(rows[1])
  expect(rows[0]).toEqual({
    big: '12345678901234567',
    file: Buffer.from([0, 255]),
    days: '{2024-03-10}',
    n: 'NaN',
    extra: { at: '1970-01-01T00:00:00.000Z' },
  })
})
