import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** The repository's root, which `npm run` starts in. */
const ROOT = join(import.meta.dirname, '..', '..')

/** Ignored by git. */
export const DATA = join(ROOT, '.data')

export const USAGE = `Usage: npm run quickstart -- [folder] [options]

Compresses every file of a folder through a task queue, with two worker processes of which one is killed.

  folder           whose files are taken (default: this repository); .git and other folders that begin
                   with a dot, node_modules, dist and coverage are passed by
  --keep           leave the server and the copies, to look at
  --query "sql"    ask the database: the one that --keep left, else the new one at the end of its run
  --stop           end and remove what --keep left
  --in folder      where the server and the copies live (default: .data/quickstart)
  --help           this text`

/** What the user wants. */
export interface Arguments {
  readonly folder: string
  readonly home: string
  readonly keep: boolean
  readonly query: string | undefined
  readonly stop: boolean
  readonly help: boolean
}

/** A mistake of the user's: told in one line, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** @throws UsageError that says what can't be understood */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parsed(args)
  if (positionals.length > 1) {
    throw new UsageError(`Give one folder, not ${positionals.length}: ${positionals.join(', ')}`)
  }
  const from = process.env.INIT_CWD ?? process.cwd()
  return {
    folder: positionals[0] === undefined ? ROOT : resolve(from, positionals[0]),
    home: values.in === undefined ? join(DATA, 'quickstart') : resolve(from, values.in),
    keep: values.keep,
    query: values.query,
    stop: values.stop,
    help: values.help,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        keep: { type: 'boolean', default: false },
        query: { type: 'string' },
        stop: { type: 'boolean', default: false },
        in: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    // Node's advice after the first sentence is for arguments that begin with a dash.
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`, { cause: error })
  }
}
