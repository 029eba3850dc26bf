import { existsSync } from 'node:fs'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { startTestServer } from '../../support/test-server.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript } from '../../support/worker-process.js'

it('restarts on the same port after kill -9, with all that was committed', async () => {
  const server = await startTestServer()
  onTestFinished(() => server.remove())
  const database = await createDatabase({ migrations: false, serverUrl: server.url })
  await database.pool.query('create table kept as select 1 as n')
  server.kill()
  await server.restart()
  const client = await database.client()
  expect((await client.query('table kept')).rows).toEqual([{ n: 1 }])
  await database.drop()
})

it('syncs to disk if asked to', async () => {
  const server = await startTestServer({ fsync: true })
  onTestFinished(() => server.remove())
  const client = new Client({ connectionString: server.url })
  await client.connect()
  expect((await client.query('show fsync')).rows).toEqual([{ fsync: 'on' }])
  await client.end()
})

it.each(['SIGKILL', 'SIGINT'] as const)('ends with its process, and leaves nothing, after %s', async (signal) => {
  const holder = spawnScript(new URL('./workers/hold-server.ts', import.meta.url), { detached: true })
  const { directory, url } = JSON.parse(await holder.line('directory')) as { directory: string; url: string }
  // Ctrl-C in a terminal reaches the whole process group.
  process.kill(-holder.pid, signal)
  await holder.exited
  await waitFor(() => !existsSync(directory), { timeoutMs: 10_000 })
  await expect(new Client({ connectionString: url }).connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
