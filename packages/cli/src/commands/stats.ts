import { setTimeout as delay } from 'node:timers/promises'
import { type TypeStats, typeStats } from '@pg-tasks/sql'
import { Command, Option } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseDuration } from '../arguments/parse-duration.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { typeLabel } from '../connection/find-type.js'
import { withClient } from '../connection/with-client.js'
import { formatInstant, formatNumber } from '../output/format.js'
import { Output } from '../output/output.js'
import { paintState } from '../output/paint-state.js'
import { startScreen } from '../output/screen.js'

interface StatsOptions extends DatabaseOptions {
  readonly watch?: boolean
  readonly interval: number
}

const STATES = ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled'] as const

/** `pg-tasks stats` */
export function statsCommand(): Command {
  const command = new Command('stats')
    .description('Count tasks per type and state. It reads the task tables whole.')
    .option('-w, --watch', 'look again and again, until Ctrl-C; piped or with --json, one answer per look')
    .addOption(new Option('--interval <duration>', 'between two looks').argParser(parseDuration).default(2_000, '2s'))
    .action(async (options: StatsOptions) => {
      const output = new Output(options)
      await withClient(options, async (client) => {
        if (options.watch === true) return watch(options, output, () => typeStats(client))
        const types = await typeStats(client)
        output.answer({ types }, () => statsTable(types, undefined, output))
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks stats',
    'pg-tasks stats --watch',
    'pg-tasks stats --json',
  ])
}

/** What two looks tell: how many tasks ended per second between them. */
interface Look {
  readonly types: readonly TypeStats[]
  readonly at: number
}

async function watch(options: StatsOptions, output: Output, look: () => Promise<TypeStats[]>): Promise<void> {
  const end = new AbortController()
  const stop = (): void => end.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  const screen = output.isTerminal ? startScreen() : undefined
  try {
    let before: Look | undefined
    while (!end.signal.aborted) {
      const now: Look = { types: await look(), at: performance.now() }
      const text = statsTable(now.types, before === undefined ? undefined : ratesOf(before, now), output)
      if (screen === undefined)
        output.line({ at: new Date(), types: now.types }, () => `${formatInstant(new Date())}\n${text}\n`)
      else
        screen.draw(
          `${output.paint.bold('pg-tasks stats')}  ${output.paint.dim(`${formatInstant(new Date())}, Ctrl-C ends`)}\n\n${text}`,
        )
      before = now
      await delay(options.interval, undefined, { signal: end.signal }).catch(() => {})
    }
  } finally {
    screen?.end()
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

function ratesOf(before: Look, now: Look): ReadonlyMap<string, number> {
  const seconds = Math.max(0.001, (now.at - before.at) / 1000)
  return new Map(
    now.types.map((type) => {
      const earlier = before.types.find((one) => typeLabel(one) === typeLabel(type))
      const ended = earlier === undefined ? 0 : type.finished - earlier.finished
      return [typeLabel(type), Math.max(0, ended / seconds)]
    }),
  )
}

function statsTable(
  types: readonly TypeStats[],
  rates: ReadonlyMap<string, number> | undefined,
  output: Output,
): string {
  const { paint } = output
  if (types.length === 0) return 'No task type is registered: pg-tasks register <table>.\n'
  return output.table(types, [
    { name: 'TYPE', value: (type) => `${typeLabel(type)}${type.paused ? ' (paused)' : ''}`, paint: paint.bold },
    { name: 'AT WORK', value: (type) => String(type.workers), align: 'right' },
    ...STATES.map((state) => ({
      name: state.toUpperCase(),
      value: (type: TypeStats) => formatNumber(type[state]),
      align: 'right' as const,
      paint: (text: string, type: TypeStats) => (type[state] === 0 ? paint.dim(text) : paintState(paint, state)(text)),
    })),
    { name: 'TOTAL', value: (type) => formatNumber(type.total), align: 'right' },
    ...(rates === undefined
      ? []
      : [
          {
            name: 'FINISHED/S',
            value: (type: TypeStats) => (rates.get(typeLabel(type)) ?? 0).toFixed(1),
            align: 'right' as const,
          },
        ]),
  ])
}
