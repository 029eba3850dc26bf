import { migrate } from '@pg-tasks/sql'
import { describe, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { spawnScript } from '../support/worker-process.js'
import { MIGRATIONS } from './migration-files.js'

const ALL = MIGRATIONS.map(({ title }) => title)

/** Ten Node processes that start at once take their time on a busy machine. */
const PATIENT = { timeoutMs: 60_000 }

describe('migrate() by many at once', () => {
  it('lets ten processes start on an empty database, each migration applied once', { timeout: 150_000 }, async () => {
    const database = await createDatabase({ migrations: false })
    const script = new URL('./workers/migrate.ts', import.meta.url)
    const processes = Array.from({ length: 10 }, () => spawnScript(script, { env: { DATABASE_URL: database.url } }))
    await Promise.all(processes.map((process) => process.message(PATIENT)))
    const answers = processes.map((process) => process.message<{ applied: string[] }>(PATIENT))
    for (const process of processes) process.send('go')
    const applied = (await Promise.all(answers)).flatMap((answer) => answer.applied)
    expect(applied.sort()).toEqual(ALL)
    expect(await Promise.all(processes.map((process) => process.exited))).toEqual(
      processes.map(() => ({ code: 0, signal: null })),
    )
    const { rows } = await database.pool.query(
      'select count(*)::int as migrations from tasks.migrations where checksum is not null',
    )
    expect(rows).toEqual([{ migrations: ALL.length }])
  })

  it.each(['repeatable read', 'serializable'])(
    'also where transactions are %s unless told otherwise',
    async (isolation) => {
      const database = await createDatabase({ migrations: false })
      await database.pool.query(`alter database ${database.name} set default_transaction_isolation to '${isolation}'`)
      const clients = await Promise.all(Array.from({ length: 5 }, () => database.client()))
      const results = await Promise.all(clients.map((client) => migrate(client)))
      expect(results.flatMap(({ applied }) => applied).sort()).toEqual(ALL)
      for (const { applied, alreadyApplied } of results) expect([...applied, ...alreadyApplied].sort()).toEqual(ALL)
    },
  )
})
