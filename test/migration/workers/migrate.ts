import { migrate } from '@pg-tasks/sql'
import { Client } from 'pg'

/** Waits for the word, so that all processes start in the same moment. */
const client = new Client({ connectionString: process.env.DATABASE_URL })
await client.connect()
process.once('message', async () => {
  const { applied } = await migrate(client)
  await client.end()
  process.send?.({ applied }, () => process.disconnect())
})
process.send?.('ready')
