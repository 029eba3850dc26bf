import { parseArgs } from 'node:util'
import { ALL_FAULTS, planFaults } from './faults/plan-faults.js'
import { POLL_MS, STANDSTILL_MS, TASK_TYPES } from './load/task-types.js'
import { Random } from './random.js'
import { counts, describeViolations } from './report.js'
import { forget, runChaos } from './run-chaos.js'
import type { LoadOptions } from './workers/program-options.js'

const USAGE = `Usage: npm run chaos -- [options]

Lets workers run tasks under load while processes, servers and the network are broken, and checks afterwards that every
promise was kept. The same seed draws the same faults.

  --minutes n   how long faults happen (default: 1)
  --seed s      what the faults and the load are drawn from (default: a random one)
  --workers n   worker processes (default: 3)
  --keep        leave the histories of the processes, to look at
  --quiet       tell the result only`

const LOAD: LoadOptions = {
  shortTransactions: 2,
  longTransactions: 2,
  operator: true,
  borrower: true,
  pauseMs: 200,
  mostUnfinished: 200,
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '3' },
    keep: { type: 'boolean', default: false },
    quiet: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(USAGE)
} else {
  // Not by itself: sockets that were reset in the midst of a write can keep Node from ending (20.20 spins).
  process.exit(await main())
}

async function main(): Promise<number> {
  const seed = values.seed ?? String(Math.floor(Math.random() * 1e9))
  const durationMs = positive('minutes', values.minutes) * 60_000
  const workers = Math.round(positive('workers', values.workers))
  const tell = (line: string): void => console.log(line)
  tell(`Chaos: seed ${seed}, ${values.minutes} minutes, ${workers} workers`)
  const tables = TASK_TYPES.map(({ table }) => table)
  const faults = planFaults(new Random(seed, 'faults'), { durationMs, workers, tables, weights: ALL_FAULTS })
  const result = await runChaos({
    seed,
    durationMs,
    workers,
    types: TASK_TYPES,
    load: LOAD,
    faults,
    pollMs: POLL_MS,
    standstillMs: STANDSTILL_MS,
    replica: true,
    tell: values.quiet ? () => {} : tell,
  })
  for (const line of counts(result.evidence)) tell(line)
  for (const line of describeViolations(result.evidence, result.violations)) tell(line)
  tell(
    result.violations.length === 0
      ? `Seed ${seed}: no violation`
      : `Seed ${seed}: ${result.violations.length} violations; histories in ${result.folder}`,
  )
  if (result.violations.length === 0 && !values.keep) forget(result)
  return result.violations.length === 0 ? 0 : 1
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not ${text}.\n\n${USAGE}`)
  return value
}
