import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { startReplica } from '../../support/replica.js'
import { startTestServer } from '../../support/test-server.js'

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

it.each([false, true])('follows the primary and takes its place (synchronous: %s)', async (synchronous) => {
  const primary = await startTestServer()
  onTestFinished(() => primary.remove())
  const replica = await startReplica(primary, { synchronous })
  onTestFinished(() => replica.remove())

  const before = await connect(primary.url)
  await before.query('create table kept as select 1 as n')
  await replica.catchUp()
  const after = await connect(replica.url)
  expect((await after.query('table kept')).rows).toEqual([{ n: 1 }])
  await expect(after.query('insert into kept values (2)')).rejects.toMatchObject({ code: '25006' })

  await before.query('insert into kept values (2)')
  if (!synchronous) await replica.catchUp()
  primary.kill()
  await replica.promote()
  await after.query('insert into kept values (3)')
  expect((await after.query('table kept')).rowCount).toBe(3)
})
