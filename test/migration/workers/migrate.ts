import { migrate } from '@pg-tasks/sql'
import { Client } from 'pg'

async function main(): Promise<void> {
  const client = new Client({ connectionString: process.env.DATABASE_URL })
  await client.connect()
  // Waits for the word, so that all processes start in the same moment.
  const go = new Promise<void>((resolve) => process.once('message', () => resolve()))
  process.send?.('ready')
  await go
  const { applied } = await migrate(client)
  await client.end()
  process.send?.({ applied }, () => process.disconnect())
}

await main()
