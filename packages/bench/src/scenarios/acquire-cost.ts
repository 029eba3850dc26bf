import type { Entry } from '../bench.js'
import type { ResultAim } from '../results.js'
import type { Stock } from '../trials/acquire-cost.js'
import type { TrialParameters } from '../trials/trial.js'
import type { Scenario } from './scenario.js'

type Case = readonly [key: string, label: string, stock: Stock, parameters?: TrialParameters]

const BASE = 'ready-10k'

const CASES: readonly Case[] = [
  [BASE, '10,000 ready', { ready: 10_000 }],
  ['ready-100k', '100,000 ready', { ready: 100_000 }],
  ['ready-1m', '1,000,000 ready', { ready: 1_000_000 }],
  ['finished-1m', '10,000 ready, 1,000,000 finished', { ready: 10_000, finished: 1_000_000 }],
  ['ahead-1m', '10,000 ready, 1,000,000 planned ahead', { ready: 10_000, ahead: 1_000_000 }],
  ['ended-100k', '10,000 ready, 100,000 failed and canceled', { ready: 10_000, ended: 100_000 }],
  [
    'priorities',
    '10,000 ready of all priorities, 1,000,000 planned ahead at the best',
    { ready: 10_000, aheadAtBest: 1_000_000 },
  ],
  ['running-5k', '10,000 ready, 5,000 running', { ready: 10_000, running: 5_000 }],
  ['fresh-100k', '100,000 ready, not analyzed', { ready: 100_000 }, { analyze: false }],
]

const HUGE: readonly Case[] = [
  ['ready-5m', '5,000,000 ready', { ready: 5_000_000 }],
  ['finished-5m', '10,000 ready, 5,000,000 finished', { ready: 10_000, finished: 5_000_000 }],
  ['ahead-5m', '10,000 ready, 5,000,000 planned ahead', { ready: 10_000, ahead: 5_000_000 }],
]

const IDLE: readonly Case[] = [
  ['empty', 'nothing ready, 1,000,000 finished and as many ahead', { finished: 1_000_000, ahead: 1_000_000 }],
  ['next-due', 'the same, next-due query', { finished: 1_000_000, ahead: 1_000_000 }, { statement: 'next_due' }],
]

/** The same cases with a hundredth of the rows, or 5,000 of a kind. */
function small([key, label, stock, parameters = {}]: Case): Case {
  const fewer = Object.entries(stock).map(([kind, count]) => [
    kind,
    Math.max(Math.ceil(count / 100), Math.min(count, 5_000)),
  ])
  return [key, `${label} (fewer)`, Object.fromEntries(fewer) as Stock, parameters]
}

export const acquireCost: Scenario = {
  name: 'acquire-cost',
  title: 'Cost of an acquire of 100 at any size',
  about:
    'Time in the server and buffers touched by one acquire of 100 tasks, on a warm cache, on tables with this in them (12 calls: time ' +
    'below which a quarter of them stayed, median of the buffers); and of an acquire that finds nothing and of the query for the next due time.',
  measure: (bench) => {
    const cases = bench.options.quick
      ? [...CASES, ...IDLE].map(small).filter(([key]) => key !== 'ready-1m')
      : [...CASES, ...HUGE, ...IDLE]
    return bench.compare({
      trial: 'acquireCost',
      rounds: Math.min(bench.options.rounds, 3),
      metrics: ['callMs', 'buffers'],
      bars: 'callMs',
      entries: cases.map(entryOf),
      aims: [...[...CASES, ...HUGE].filter(([key]) => key !== BASE).flatMap(aimsOf), ...IDLE.map(idleAim)],
    })
  },
}

function entryOf([key, label, stock, parameters]: Case): Entry {
  return {
    key,
    label,
    participant: { peer: 'ours', config: 'kept' },
    parameters: { stock, countStatements: true, ...parameters },
  }
}

function aimsOf([key, label]: Case): ResultAim[] {
  return (['callMs', 'buffers'] as const).map((metric) => ({
    text: `${label}: ${metric === 'callMs' ? 'time' : 'buffers'} ≤ 1.3 × that of 10,000 ready`,
    metric,
    of: key,
    than: BASE,
    atMost: 1.3,
  }))
}

function idleAim([key, label]: Case): ResultAim {
  return { text: `${label}: under 50 buffers`, metric: 'buffers', of: key, atMost: 50 }
}
