import { setMaxListeners } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { within } from '../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../support/worker-process.js'
import { check } from './checker/check.js'
import type { Evidence, Violation } from './checker/evidence.js'
import { readEvidence } from './checker/read-evidence.js'
import { describeFault } from './checker/task-history.js'
import type { PlannedFault } from './faults/fault.js'
import type { Field } from './faults/field.js'
import { inject } from './faults/inject.js'
import { HistoryWriter, isEvent, monotonicMs, readHistories } from './history.js'
import type { ChaosType } from './load/task-types.js'
import { drain } from './session/drain.js'
import { deadLeases, leftovers } from './session/leftovers.js'
import { Network } from './session/network.js'
import { Servers } from './session/servers.js'
import { Slot } from './session/slot.js'
import type { LoadOptions, ProgramOptions } from './workers/program-options.js'

const LOAD = new URL('./workers/load.ts', import.meta.url)

/** How long the load may take to end: its statements' patience. */
const LOAD_END_MS = 60_000

export interface ChaosOptions {
  readonly seed: string
  readonly durationMs: number
  readonly workers: number
  readonly types: readonly ChaosType[]
  readonly load: LoadOptions
  readonly faults: readonly PlannedFault[]
  readonly pollMs: number
  /** After which nothing will move any more. */
  readonly standstillMs: number
  /** Whether there is a replica to fail over to. */
  readonly replica: boolean
  /** Changes the database before anybody uses it. */
  readonly prepare?: (client: Client) => Promise<void>
  readonly tell: (line: string) => void
}

export interface ChaosResult {
  readonly evidence: Evidence
  readonly violations: readonly Violation[]
  /** Where the histories are. */
  readonly folder: string
}

/** Lets workers run under load and faults, waits until everything has ended, and checks what has happened. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { types, tell } = options
  const folder = mkdtempSync(join(tmpdir(), 'pg-tasks-chaos-'))
  const history = new HistoryWriter(folder, 'chaos')
  const servers = await Servers.start(types, {
    replica: options.replica,
    onEvent: (event) => history.write(event, {}),
  })
  const networks: Network[] = []
  try {
    if (options.prepare !== undefined) await servers.ask(options.prepare)
    for (let place = 0; place <= options.workers; place += 1) networks.push(await Network.start(servers))
    const program = { folder, seed: options.seed, types, pollMs: options.pollMs, load: options.load }
    const slots = networks.slice(0, -1).map((network, at) => new Slot(`worker-${at}`, network, program, history))
    await Promise.all(slots.map((slot) => slot.start()))
    const load = await startLoad({ ...program, name: 'load', urls: networks.at(-1)?.urls ?? [], clockShiftMs: 0 })

    const wallMs = Date.now()
    const toMonotonicMs = monotonicMs() - wallMs
    history.write('chaos_started', { seed: options.seed, wallMs })
    const ending = new AbortController()
    // Each fault waits for it.
    setMaxListeners(0, ending.signal)
    const field: Field = { servers, slots, networks, load, signal: ending.signal }
    const faults = injectAll(field, options, history)
    await delay(options.durationMs)
    ending.abort()
    await faults
    load.send('end')
    await within(load.exited, { timeoutMs: LOAD_END_MS, what: 'the end of the load' })
    history.write('load_ended', {})
    tell('No more faults and no more load; waiting until everything has ended')

    await pauseSchedules(servers)
    const { afterMs, unfinished } = await drain(servers, types, options.standstillMs)
    history.write('drained', { afterMs })
    const dead = await deadLeases(servers, livingWorkers(folder), options.standstillMs)
    await Promise.all(slots.map((slot) => slot.close()))
    const remains = { unfinished, found: [...dead, ...(await leftovers(servers))] }
    history.close()
    const evidence = await servers.ask((client) => readEvidence(client, { folder, types, remains, toMonotonicMs }))
    return { evidence, violations: check(evidence), folder }
  } finally {
    await Promise.all(networks.map((network) => network.close()))
    await servers.remove()
  }
}

/** Removes the histories. */
export function forget({ folder }: ChaosResult): void {
  rmSync(folder, { recursive: true, force: true })
}

async function startLoad(program: ProgramOptions): Promise<WorkerProcess> {
  const load = spawnScript(LOAD, { args: [JSON.stringify(program)] })
  await load.message({ timeoutMs: 60_000 })
  return load
}

async function injectAll(field: Field, { faults, tell }: ChaosOptions, history: HistoryWriter): Promise<void> {
  const startedAt = monotonicMs()
  const running: Array<Promise<void>> = []
  for (const [index, { atMs, fault }] of faults.entries()) {
    await delay(Math.max(0, startedAt + atMs - monotonicMs()), undefined, { signal: field.signal }).catch(() => {})
    if (field.signal.aborted) break
    running.push(
      (async () => {
        history.write('fault_began', { index, fault })
        const outcome = await inject(field, fault).catch((error: unknown) => `failed: ${String(error)}`)
        history.write('fault_ended', { index, outcome })
        tell(
          `${(atMs / 1_000).toFixed(1).padStart(7)} s  ${describeFault(fault)}${outcome === 'done' ? '' : `: ${outcome}`}`,
        )
      })(),
    )
  }
  await Promise.all(running)
}

/** They enqueue for ever. */
async function pauseSchedules(servers: Servers): Promise<void> {
  await servers.ask((client) => client.query("select tasks.pause_schedule(key, 'the end') from tasks.schedules"))
}

/** Of all processes that began, those that have not ended. */
function livingWorkers(folder: string): string[] {
  const living = new Map<string, string>()
  for (const event of readHistories(folder)) {
    if (isEvent(event, 'worker_started')) living.set(event.process, event.workerId)
    if (isEvent(event, 'process_ended')) living.delete(event.name)
  }
  return [...living.values()]
}
