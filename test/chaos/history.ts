import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { HistoryEvents } from './history-events.js'

/** One line of a history. */
export type HistoryEvent<Name extends keyof HistoryEvents = keyof HistoryEvents> = {
  [Each in Name]: {
    /** Who wrote it: a worker is another process after each restart. */
    readonly process: string
    /** Counts the lines of a process, from 1. */
    readonly number: number
    /** Milliseconds of the machine's monotonic clock, which all processes share. */
    readonly at: number
    readonly event: Each
  } & HistoryEvents[Each]
}[Name]

/** The same clock in every process, whatever a process believes that the time is. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}

/** What one process did and saw, in a file of its own: one JSON object per line, never changed. */
export class HistoryWriter {
  readonly process: string
  readonly #file: number
  #number = 0

  constructor(folder: string, process: string) {
    this.process = process
    this.#file = openSync(join(folder, `${process}.jsonl`), 'a')
  }

  /** With the kernel when it returns: a SIGKILL that comes later takes nothing back. */
  write<Name extends keyof HistoryEvents>(event: Name, fields: HistoryEvents[Name]): void {
    this.#number += 1
    const line = { process: this.process, number: this.#number, at: monotonicMs(), event, ...fields }
    writeSync(this.#file, `${JSON.stringify(line)}\n`)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** What all processes have written, by time. */
export function readHistories(folder: string): HistoryEvent[] {
  const events = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HistoryEvent)
  return events.sort((a, b) => a.at - b.at || a.number - b.number)
}

/** Whether an event is of one of these kinds. */
export function isEvent<Name extends keyof HistoryEvents>(
  event: HistoryEvent,
  ...names: readonly Name[]
): event is Extract<HistoryEvent, { readonly event: Name }> {
  return (names as readonly string[]).includes(event.event)
}
