import { expect, it } from 'vitest'
import { overlaps, overlapsPerKey, type RunInterval, runIntervals } from '../../integration/limits/run-intervals.js'
import { countStates, createTaskType } from '../../support/task-type.js'
import { createDatabase } from '../../support/test-database.js'
import { waitFor } from '../../support/wait-for.js'
import { spawnScript } from '../../support/worker-process.js'

const SERVE = new URL('./serve-calls.ts', import.meta.url)
const PROCESSES = 8
/** The size: LIMITS_TASKS=20000, which takes some minutes. */
const TASKS = Number(process.env.LIMITS_TASKS ?? 1_500)
const KEYS = Math.min(500, TASKS / 10)
const KILLS = TASKS / 500
const CONCURRENCY = 12
const RATE = { count: 300, burst: 30 }

/** Spans in which more tasks started than the rate lets through. */
function tooFast(runs: readonly RunInterval[]): number {
  const starts = runs.map(({ started }) => started / 1e6).toSorted((a, b) => a - b)
  let found = 0
  // A bucket that is replayed: it never holds less than nothing.
  let places = RATE.burst
  let last = starts[0] ?? 0
  for (const start of starts) {
    places = Math.min(RATE.burst, places + (start - last) * RATE.count) - 1
    last = start
    if (places < -0.01) found += 1
  }
  return found
}

interface OrderedRun {
  readonly id: string
  readonly key: number
  readonly started: number
  readonly finished: number
}

/** Tasks that started before an earlier one of their key had finished; the tasks come by id. */
function passed(tasks: readonly OrderedRun[]): OrderedRun[] {
  const lastEnd = new Map<number, number>()
  return tasks.filter(({ key, started, finished }) => {
    const before = lastEnd.get(key) ?? Number.NEGATIVE_INFINITY
    lastEnd.set(key, Math.max(before, finished))
    return started < before
  })
}

// Issue 6. The history says when each run had its place: from its acquire until its outcome, or until it was taken back.
it(
  `${PROCESSES} processes that are killed again and again keep order, concurrency and rate`,
  async () => {
    const database = await createDatabase()
    await createTaskType(database.pool, 'calls', {
      columns: 'key integer not null',
      timeout: '3 s',
      maxRetries: null,
      backoffBase: '10 ms',
      backoffMax: '100 ms',
    })
    await database.pool.query(`select tasks.keep_history('tasks', 'calls'),
    tasks.limit_keys('tasks', 'calls', '{key}'), tasks.limit_concurrency('tasks', 'calls', ${CONCURRENCY}),
    tasks.limit_rate('tasks', 'calls', ${RATE.count}, '1 s', ${RATE.burst})`)
    await database.pool.query(
      `insert into tasks.calls (key, planned_to) select g % ${KEYS}, now() - interval '1 hour' + g * interval '1 ms'
     from generate_series(1, ${TASKS}) g`,
    )
    const serve = () => spawnScript(SERVE, { env: { DATABASE_URL: database.url } })
    const processes = Array.from({ length: PROCESSES }, serve)
    await Promise.all(processes.map((one) => one.line('ready', { timeoutMs: 120_000 })))
    /** Takes out the first process that is in the midst of tasks. */
    const takeBusy = () =>
      waitFor(async () => {
        for (const [index, one] of processes.entries()) {
          const worker = one.output.find((line) => line.startsWith('ready '))?.slice('ready '.length)
          if (worker === undefined) continue
          one.signal('SIGSTOP')
          const { rowCount } = await database.pool.query(
            'select from tasks.calls where run_worker = $1 and finished_at is null and started_at is not null',
            [worker],
          )
          if (rowCount !== 0) return processes.splice(index, 1)[0]
          one.signal('SIGCONT')
        }
        return undefined
      })
    const finished = async () => (await countStates(database.pool, 'calls')).finished ?? 0
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const from = await finished()
      await waitFor(async () => (await finished()) >= Math.min(from + TASKS / (2 * KILLS), TASKS), {
        timeoutMs: 60_000,
      })
      await (await takeBusy()).kill('SIGKILL')
      processes.push(serve())
    }
    await waitFor(async () => (await finished()) === TASKS, {
      timeoutMs: 60_000 + TASKS * 30,
      what: 'all tasks to finish',
    })
    await Promise.all(processes.map((one) => one.kill('SIGTERM')))

    const runs = await runIntervals(database.pool, 'tasks.calls')
    const { rows } = await database.pool.query(
      `select count(*) filter (where outcome = 'lost')::int as lost, count(*) filter (where outcome = 'retried')::int as retried from tasks.attempts`,
    )
    console.log(`${runs.length} runs, of which ${rows[0].lost} were lost and ${rows[0].retried} retried`)
    expect(rows[0].lost).toBeGreaterThan(0)
    expect(overlapsPerKey(runs, 1)).toEqual([])
    expect(overlaps(runs, CONCURRENCY)).toEqual([])
    expect(tooFast(runs)).toBe(0)
    // Each key's tasks ran in their order: the first one again and again until it was done.
    const { rows: tasks } = await database.pool.query<OrderedRun>(
      `select id, key, (extract(epoch from started_at) * 1e6)::float8 as started, (extract(epoch from finished_at) * 1e6)::float8 as finished
     from tasks.calls order by tasks.calls.id`,
    )
    expect(tasks).toHaveLength(TASKS)
    expect(passed(tasks)).toEqual([])
    const { rows: held } = await database.pool.query('select id from tasks.calls where held')
    expect(held).toEqual([])

    // The checks find what they look for.
    const [one] = runs as [RunInterval]
    expect(overlapsPerKey([...runs, { ...one, task_id: 'planted' }], 1).length).toBeGreaterThan(0)
    const full = Array.from({ length: CONCURRENCY }, (_, n) => ({ ...one, key: null, task_id: `planted ${n}` }))
    expect(overlaps([...runs, ...full], CONCURRENCY).length).toBeGreaterThan(0)
    const [first, ...others] = tasks as [OrderedRun]
    expect(passed([{ ...first, finished: Number.POSITIVE_INFINITY }, ...others]).length).toBeGreaterThan(0)
    expect(tooFast([...runs, ...Array<RunInterval>(2 * RATE.burst).fill(one)])).toBeGreaterThan(0)
  },
  300_000 + TASKS * 40,
)
