import {
  backfillSchedule,
  listSchedules,
  pauseSchedule,
  previewSchedule,
  resumeSchedule,
  triggerSchedule,
  unschedule,
} from '@pg-tasks/client'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseInstant, parseInteger } from '../arguments/parse-arguments.js'
import { CliError } from '../cli-error.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { withClient } from '../connection/with-client.js'
import { formatInstant } from '../output/format.js'
import { Output } from '../output/output.js'
import { schedulesTable, scheduleText } from '../output/schedules-table.js'

/** `pg-tasks schedules` */
export function schedulesCommand(): Command {
  const command = new Command('schedules').description('List schedules, and manage them by their key.').action(list)
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks schedules',
    'pg-tasks schedules show nightly-report -n 10',
    'pg-tasks schedules backfill nightly-report --from 2026-03-01 --to 2026-03-07',
  ])
    .addCommand(
      keyed('show', 'Show a schedule and its next occurrences.')
        .option('-n, --next <number>', 'how many occurrences', parseInteger(1, 1000), 5)
        .action(show),
    )
    .addCommand(
      keyed('pause', 'From now on it enqueues nothing.')
        .option('--reason <text>', 'shown wherever it is shown')
        .action(pause),
    )
    .addCommand(
      keyed('resume', 'Let it go on, from now.')
        .option('--catch-up', 'as if the pause had been an outage: its catch-up policy applies')
        .action(resume),
    )
    .addCommand(
      keyed('trigger', 'Enqueue its task now, beside its occurrences.')
        .option('--request-id <id>', 'the same id gives the same task')
        .action(trigger),
    )
    .addCommand(keyed('unschedule', 'Remove it; its tasks stay.').action(remove))
    .addCommand(
      keyed('backfill', 'Enqueue the occurrences of a time that are missing.')
        .requiredOption('--from <time>', 'first instant', parseInstant)
        .requiredOption('--to <time>', 'last instant', parseInstant)
        .action(backfill),
    )
}

function keyed(name: string, description: string): Command {
  const command = new Command(name).description(description).argument('<key>', 'key of the schedule')
  return withExamples(withDatabaseOptions(command), [
    `pg-tasks schedules ${name} nightly-report${name === 'backfill' ? ' --from 2026-03-01 --to 2026-03-07' : ''}`,
  ])
}

async function list(options: DatabaseOptions): Promise<void> {
  const schedules = await withClient(options, (client) => listSchedules(client))
  const output = new Output(options)
  output.answer({ schedules }, () => schedulesTable(schedules, output))
}

async function show(key: string, options: DatabaseOptions & { readonly next: number }): Promise<void> {
  await withClient(options, async (client) => {
    const schedule = (await listSchedules(client)).find((one) => one.key === key)
    if (schedule === undefined)
      throw new CliError(`There is no schedule ${key}.`, { hint: 'pg-tasks schedules lists them.' })
    const next = await previewSchedule(client, key, options.next)
    const output = new Output(options)
    output.answer({ schedule, next }, () => scheduleText(schedule, next, output))
  })
}

async function pause(key: string, options: DatabaseOptions & { readonly reason?: string }): Promise<void> {
  await withClient(options, (client) => pauseSchedule(client, key, options.reason))
  new Output(options).answer({ paused: key }, () => `${key} is paused.\n`)
}

async function resume(key: string, options: DatabaseOptions & { readonly catchUp?: boolean }): Promise<void> {
  const state = await withClient(options, (client) =>
    resumeSchedule(client, key, { catchUp: options.catchUp === true }),
  )
  new Output(options).answer({ resumed: key, state }, () => `${key} goes on (${state}).\n`)
}

async function trigger(key: string, options: DatabaseOptions & { readonly requestId?: string }): Promise<void> {
  const { requestId } = options
  const id = await withClient(options, (client) =>
    triggerSchedule(client, key, requestId === undefined ? {} : { requestId }),
  )
  new Output(options).answer({ triggered: key, id }, () =>
    id === null ? `${key}: the table took no task; its like waits already.\n` : `${key}: task ${id} is enqueued.\n`,
  )
}

async function remove(key: string, options: DatabaseOptions): Promise<void> {
  const gone = await withClient(options, (client) => unschedule(client, key))
  if (!gone) throw new CliError(`There is no schedule ${key}.`, { hint: 'pg-tasks schedules lists them.' })
  new Output(options).answer({ unscheduled: key }, () => `${key} is removed; its tasks stay.\n`)
}

async function backfill(
  key: string,
  options: DatabaseOptions & { readonly from: Date; readonly to: Date },
): Promise<void> {
  const { from, to } = options
  const enqueued = await withClient(options, (client) => backfillSchedule(client, key, from, to))
  new Output(options).answer({ backfilled: key, from, to, enqueued }, () => {
    return `${key}: ${enqueued} tasks are enqueued for ${formatInstant(from)} to ${formatInstant(to)}.\n`
  })
}
