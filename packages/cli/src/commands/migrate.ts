import { type MigrationStatus, migrate, migrationStatus } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { withClient } from '../connection/with-client.js'
import { EXIT_CODES } from '../exit-codes.js'
import { Output } from '../output/output.js'

interface MigrateCommandOptions extends DatabaseOptions {
  readonly dryRun?: boolean
  readonly status?: boolean
}

/** `pg-tasks migrate` */
export function migrateCommand(): Command {
  const command = new Command('migrate')
    .description('Bring the schema "tasks" of the database up to this version.')
    .option('--dry-run', 'only tell what would be applied')
    .option('--status', 'tell how the database stands; exit code 5 if migrations are pending, 6 if it is incompatible')
    .action(async (options: MigrateCommandOptions) => {
      const output = new Output(options)
      await withClient(options, async (client) => {
        if (options.status === true) {
          const status = await migrationStatus(client)
          output.answer(statusJson(status), () => statusText(status, output))
          if (status.state === 'incompatible') process.exitCode = EXIT_CODES.CRITICAL.code
          else if (status.state !== 'current') process.exitCode = EXIT_CODES.WARNING.code
          return
        }
        const dryRun = options.dryRun === true
        const result = await migrate(client, { dryRun })
        output.answer({ dryRun, ...result }, () => {
          const { applied, alreadyApplied } = result
          if (applied.length === 0) return `Nothing to do: ${alreadyApplied.length} migrations are applied.\n`
          const head = dryRun ? 'To be applied:' : 'Applied:'
          return `${[head, ...applied.map((name) => `  ${name}`)].join('\n')}\n`
        })
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks migrate --dry-run',
    'pg-tasks migrate',
    'pg-tasks migrate --status --json',
  ])
}

function statusJson({ state, applied, pending, unknown, problem }: MigrationStatus) {
  return { state, applied: applied.map(titleOf), pending, unknown, problem: problem?.message ?? null }
}

function titleOf({ number, name }: { readonly number: number; readonly name: string }): string {
  return `${String(number).padStart(4, '0')}_${name}`
}

function statusText({ state, applied, pending, unknown, problem }: MigrationStatus, { paint }: Output): string {
  const colour = state === 'current' ? paint.green : state === 'incompatible' ? paint.red : paint.yellow
  const lines = [`${colour(state)}: ${applied.length} applied, ${pending.length} pending`]
  for (const name of pending) lines.push(`  pending  ${name}`)
  for (const name of unknown) lines.push(`  of a later version  ${name}`)
  if (problem !== undefined) lines.push(problem.message)
  return `${lines.join('\n')}\n`
}
