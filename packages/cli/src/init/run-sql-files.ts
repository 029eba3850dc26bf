import { readFileSync, statSync } from 'node:fs'
import type { Queryable } from '@pg-tasks/sql'
import { CliError, UsageError } from '../cli-error.js'

/** Runs SQL files of the user's own, each in one transaction unless it says otherwise itself. */
export async function runSqlFiles(connection: Queryable, files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) throw new UsageError(`There is no file ${file}.`)
  }
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    try {
      await connection.query(text)
    } catch (error) {
      const { message, position, hint } = error as { message: string; position?: string; hint?: string }
      const line = position === undefined ? '' : `:${text.slice(0, Number(position)).split('\n').length}`
      throw new CliError(`${file}${line}: ${message}`, { cause: error, ...(hint === undefined ? {} : { hint }) })
    }
  }
}
