import { join } from 'node:path'
import { type Claimed, inTransaction, Task, type TaskContext } from '@pg-tasks/client'
import type { Pool } from 'pg'
import { compress } from './compress.js'

/** The columns of `tasks.compress_file` besides the template's. */
export interface FileColumns {
  readonly path: string
}

/** Where files are read and copies are written. */
export interface Folders {
  readonly source: string
  readonly copies: string
  readonly unfinished: string
}

/** The task type `tasks.compress_file`: the class's name in snake_case is the table's. */
export class CompressFile extends Task<FileColumns> {
  readonly #pool: Pool
  readonly #folders: Folders
  readonly #worker: string

  /** @param worker - who is recorded as the one that made the copy */
  constructor(pool: Pool, folders: Folders, worker: string) {
    super()
    this.#pool = pool
    this.#folders = folders
    this.#worker = worker
  }

  override async run(task: Claimed<FileColumns>, { attempt, signal }: TaskContext): Promise<void> {
    const { source, copies, unfinished } = this.#folders
    // Two attempts may overlap (the first one's lease is over, its process isn't), so each writes a file of its own.
    const { bytes, sha256, compressedBytes } = await compress(
      join(source, task.path),
      join(copies, `${task.path}.gz`),
      join(unfinished, `${task.id}-${attempt}`),
      signal,
    )
    // The record and the end of the task are one transaction: both happen, or neither does.
    await inTransaction(this.#pool, async (transaction) => {
      await transaction.query(
        `insert into public.copies (path, bytes, sha256, compressed_bytes, recorded_by, attempt)
         values ($1, $2, $3, $4, $5, $6)`,
        [task.path, bytes, sha256, compressedBytes, this.#worker, attempt],
      )
      await this.finish(transaction, task)
    })
  }
}
