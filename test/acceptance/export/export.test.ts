import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from '@pg-tasks/client'
import { expect, it } from 'vitest'
import { createTaskType, readTask } from '../../support/task-type.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript } from '../../support/worker-process.js'
import { ExportOrders, lines } from './export-orders.js'

const WORKER = new URL('./workers/export-files.ts', import.meta.url)
const WHOLE = [...lines()].join('')

it.each([
  ['before the draft', false, 0],
  ['in the middle of the draft', false, 1],
  ['before the rename', false, 1],
  ['after the rename, before the mark', true, 0],
  ['after the mark, before the finish', true, 0],
  ['after the finish', true, 0],
])(
  'leaves a whole file or none when the process is killed %s, and a whole one in the end',
  async (point, there, drafts) => {
    const database = await createDatabase()
    const folder = temporaryFolder()
    const file = join(folder, 'orders.csv')
    await createTaskType(database.pool, 'export_orders', { timeout: '1 s', columns: 'file text not null' })
    const { rows } = await database.pool.query('insert into tasks.export_orders (file) values ($1) returning id', [
      file,
    ])
    const { id } = rows[0] as { id: string }
    const worker = spawnScript(WORKER, { env: { DATABASE_URL: database.url, STOP_AT: point } })
    expect(await worker.message()).toBe(point)
    await worker.kill()

    expect(existsSync(file)).toBe(there)
    if (there) expect(readFileSync(file, 'utf8')).toBe(WHOLE)
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toHaveLength(drafts)

    const successor = new Worker({ connectionString: database.url, pollIntervalMs: 500, handleSignals: false })
    successor.add(new ExportOrders())
    const running = successor.run()
    await waitFor(async () => (await readTask(database.pool, 'export_orders', id)).state === 'finished', {
      timeoutMs: 40_000,
      what: 'another worker to finish the task',
    })
    await successor.stop()
    await running

    expect(readFileSync(file, 'utf8')).toBe(WHOLE)
    expect(readdirSync(folder)).toEqual(['orders.csv'])
  },
)
