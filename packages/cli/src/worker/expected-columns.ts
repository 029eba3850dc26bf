import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ExpectedColumns } from '@pg-tasks/sql'
import { CliError } from '../cli-error.js'
import { checkModules } from './check-modules.js'
import { childFile } from './child-file.js'
import { typescriptOptions } from './typescript-options.js'

/** What the inspecting process sends. */
export type Inspection =
  | { readonly expected: readonly ExpectedColumns[] }
  | { readonly message: string; readonly hint?: string }

/** The columns that the tasks of these modules expect; they are imported in a process of their own, which ends after that. */
export async function expectedColumns(modules: readonly string[], url: string): Promise<readonly ExpectedColumns[]> {
  if (modules.length === 0) return []
  checkModules(modules)
  const child = fork(fileURLToPath(childFile('inspect-child')), [JSON.stringify(modules)], {
    execArgv: [...process.execArgv, ...typescriptOptions(modules)],
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [inspection] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => [{ message: 'The modules ended the process that imported them.' }]),
  ])) as [Inspection]
  if ('expected' in inspection) return inspection.expected
  const { message, hint } = inspection
  throw new CliError(message, hint === undefined ? {} : { hint })
}
