import { CliError } from '../cli-error.js'
import type { Inspection } from './expected-columns.js'
import { loadTasks } from './load-tasks.js'

/** Imports modules and tells what columns their tasks expect. */
async function inspect(): Promise<Inspection> {
  const { tasks } = await loadTasks(JSON.parse(process.argv[2] ?? '[]') as string[])
  return {
    expected: tasks.map(({ options }) => {
      // A client that is older has no such option.
      const { schema, table, columns } = options as { schema: string; table: string; columns?: readonly string[] }
      return { schema, table, columns }
    }),
  }
}

const inspection = await inspect().catch((error: Error): Inspection => {
  const hint = error instanceof CliError ? error.hint : undefined
  return { message: error.message, ...(hint === undefined ? {} : { hint }) }
})
process.send?.(inspection, undefined, {}, () => process.exit(0))
