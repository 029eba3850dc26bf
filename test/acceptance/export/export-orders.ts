import { createWriteStream } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Claimed, Task, type TaskContext } from '@pg-tasks/client'

interface Export {
  readonly file: string
}

const ROWS = 20_000

/** What a whole file holds. */
export function* lines(): Generator<string> {
  for (let row = 1; row <= ROWS; row += 1) yield `${row};order ${row}\n`
}

/** The handler of docs/guides/export-files.md, with the points at which a test may stop it. */
export class ExportOrders extends Task<Export> {
  readonly #reach: (point: string) => Promise<void>

  constructor(reach: (point: string) => Promise<void> = async () => {}) {
    super({ table: 'export_orders' })
    this.#reach = reach
  }

  override async run(task: Claimed<Export>, { once, signal }: TaskContext): Promise<void> {
    await once('export', async () => {
      await this.#reach('before the draft')
      await removeDrafts(task.file)
      // A name of this run's own: a run that lost its task may still be writing.
      const draft = `${task.file}.${task.run_token}.part`
      await pipeline(this.#rows(), createWriteStream(draft), { signal })
      await flush(draft)
      await this.#reach('before the rename')
      await rename(draft, task.file)
      await flush(dirname(task.file))
      await this.#reach('after the rename, before the mark')
    })
    await this.#reach('after the mark, before the finish')
  }

  async *#rows(): AsyncGenerator<string> {
    let row = 0
    for (const line of lines()) {
      row += 1
      if (row === ROWS / 2) await this.#reach('in the middle of the draft')
      yield line
    }
  }
}

/** What killed runs have left. */
async function removeDrafts(file: string): Promise<void> {
  for (const name of await readdir(dirname(file))) {
    if (name.startsWith(`${basename(file)}.`) && name.endsWith('.part')) await rm(join(dirname(file), name))
  }
}

/** Content and name are on disk before anybody relies on them. */
async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
