import { stat } from 'node:fs/promises'
import { Client } from 'pg'
import { type Arguments, parseArguments, USAGE, UsageError } from './arguments.js'
import { Home } from './home.js'
import { listFiles } from './list-files.js'
import { printTable } from './print-table.js'
import { Progress } from './progress.js'
import { Run } from './run.js'

const progress = new Progress(process.stdout)

/** @returns the exit code */
async function main(args: Arguments): Promise<number> {
  if (args.help) {
    progress.say(USAGE)
    return 0
  }
  const home = new Home(args.home)
  if (args.stop) return stop(home)
  if (args.query !== undefined && home.exists && (await queryKept(home, args.query))) return 0
  return quickstart(home, args)
}

async function stop(home: Home): Promise<number> {
  if (!home.exists) {
    progress.say(`There is nothing in ${home.path}.`)
    return 0
  }
  await home.open().catch((error: unknown) => {
    // What can't be started can still be removed; what is in use must not.
    if (error instanceof UsageError) throw error
  })
  await home.remove()
  progress.say(`The server is stopped, and what was in ${home.path} removed.`)
  return 0
}

/** @returns false if an earlier run has left no database to ask */
async function queryKept(home: Home, query: string): Promise<boolean> {
  await home.open()
  try {
    if (!(await home.hasDatabase)) return false
    await showQuery(home, query)
    return true
  } finally {
    await home.leave()
  }
}

async function quickstart(home: Home, args: Arguments): Promise<number> {
  const begun = performance.now()
  const files = await filesOf(args.folder, home.path)
  const interrupt = new AbortController()
  const onSignal = (): void => interrupt.abort()
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  await home.open()
  let kept = false
  try {
    await home.createDatabase()
    progress.say(`PostgreSQL runs in ${home.path}`)
    interrupt.signal.throwIfAborted()
    const run = new Run(home, args.folder, files, progress, interrupt.signal)
    let problems: readonly string[]
    try {
      problems = await run.work()
    } finally {
      await run.close()
    }
    for (const problem of problems) progress.say(`Wrong: ${problem}`)
    progress.say(`It took ${((performance.now() - begun) / 1_000).toFixed(1)} s.`)
    kept = args.keep
    if (args.query !== undefined) await showQuery(home, args.query)
    progress.say(`\n${kept ? howToLook(home) : HOW_TO_KEEP}`)
    return problems.length === 0 ? 0 : 1
  } catch (error) {
    if (!interrupt.signal.aborted) throw error
    progress.say('Interrupted; everything is removed.')
    return 130
  } finally {
    if (kept) await home.leave()
    else await home.remove()
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

async function filesOf(folder: string, except: string): Promise<readonly string[]> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(error.code === 'ENOENT' ? `There is no folder ${folder}.` : error.message, { cause: error })
  })
  if (!found.isDirectory()) throw new UsageError(`${folder} is a file; give the folder it is in.`)
  const files = await listFiles(folder, except)
  if (files.length === 0) throw new UsageError(`There are no files in ${folder}.`)
  return files
}

async function showQuery(home: Home, query: string): Promise<void> {
  const client = new Client({ connectionString: home.connectionString, application_name: 'quickstart query' })
  await client.connect()
  try {
    const result = await client.query<unknown[]>({ text: query, rowMode: 'array' })
    const names = result.fields.map((field) => field.name)
    progress.say(`\n${query}\n${names.length === 0 ? result.command : printTable(names, result.rows)}`)
  } catch (error) {
    throw new UsageError(`The query failed: ${(error as Error).message}`, { cause: error })
  } finally {
    await client.end()
  }
}

const HOW_TO_KEEP = `Everything is removed again. To look for yourself:
  npm run quickstart -- --query "select * from public.copies limit 5"
  npm run quickstart -- --keep     leaves the server running, for psql`

function howToLook(home: Home): string {
  return `The server goes on, and the copies are in ${home.copies}. Look with psql:
  ${home.psqlCommand}
or without it:
  npm run quickstart -- --query "select * from tasks.stats"
  npm run quickstart -- --query "select id, path, execution_count, last_error from tasks.compress_file where lost_count > 0"
End and remove it:
  npm run quickstart -- --stop`
}

try {
  process.exitCode = await main(parseArguments(process.argv.slice(2)))
} catch (error) {
  const readable = error instanceof UsageError || (error as { code?: unknown }).code !== undefined
  process.stderr.write(`${readable ? (error as Error).message : String((error as Error).stack)}\n`)
  if (error instanceof UsageError) process.stderr.write('npm run quickstart -- --help tells what there is.\n')
  process.exitCode = 1
}
