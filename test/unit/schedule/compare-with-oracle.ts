import { parseCron } from '../../../packages/client/src/schedule/cron.js'
import { oracleFor, runsOf } from './wall-clock-oracle.js'

/** Zones whose clocks do something unusual: gaps at midnight, of 30 minutes, of two hours, of a day, in Ramadan. */
export const UNUSUAL_ZONES = [
  'America/Nuuk',
  'America/Scoresbysund',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Antarctica/Troll',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Africa/Casablanca',
  'Africa/El_Aaiun',
  'Africa/Cairo',
  'America/Havana',
  'America/Asuncion',
  'America/St_Johns',
  'America/New_York',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Dhaka',
  'Asia/Pyongyang',
  'Asia/Kolkata',
  'Atlantic/Azores',
  'Europe/Berlin',
  'Europe/Dublin',
  'Europe/Chisinau',
  'UTC',
] as const

export interface ComparisonOptions {
  readonly cases: number
  readonly seed: number
  readonly zones: readonly string[]
}

export interface Mismatch {
  readonly cron: string
  readonly timezone: string
  readonly instant: string
  readonly direction: 'next' | 'previous'
  readonly got: string
  readonly expected: string
}

const HOUR = 3_600_000
const STEPS = 5

/**
 * Asks `parseCron` and the oracle the same random questions and returns where they differ.
 *
 * 85 % of the instants lie within a day and a half of a change of the zone's clocks. Each question takes five steps
 * forward and five back, each from the result before, as a stored schedule does.
 */
export function compareWithOracle({ cases, seed, zones }: ComparisonOptions): Mismatch[] {
  const random = randomFrom(seed)
  const mismatches: Mismatch[] = []
  for (let index = 0; index < cases; index += 1) {
    const timezone = random.pick(zones)
    const { instant, hourAtChange } = randomInstant(random, timezone)
    const cron = randomCron(random, hourAtChange)
    const cadence = parseCron(cron, timezone)
    const oracle = oracleFor(cron, timezone)
    const answers = [
      { direction: 'next', got: walk(instant, cadence.next), expected: oracle.after(instant, STEPS) },
      { direction: 'previous', got: walk(instant, cadence.previous), expected: oracle.before(instant, STEPS) },
    ] as const
    for (const { direction, got, expected } of answers) {
      // The oracle looks about twelve years far; what croner finds beyond is not compared.
      const compared = got.slice(0, expected.length)
      if (compared.join() === expected.join()) continue
      mismatches.push({ cron, timezone, direction, instant: show([instant]), got: show(got), expected: show(expected) })
    }
  }
  return mismatches
}

function walk(instant: number, step: (from: Date) => Date | null): number[] {
  const found: number[] = []
  let date: Date | null = new Date(instant)
  while (found.length < STEPS) {
    date = step(date)
    if (date === null) break
    found.push(date.getTime())
  }
  return found
}

function show(instants: readonly number[]): string {
  return instants.map((instant) => new Date(instant).toISOString()).join(' ')
}

interface Random {
  share(): number
  between(low: number, high: number): number
  pick<T>(items: readonly T[]): T
}

/** mulberry32: small, seeded, good enough to choose cases. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0
  const share = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low: number, high: number) => low + Math.floor(share() * (high - low + 1))
  return { share, between, pick: <T>(items: readonly T[]) => items[between(0, items.length - 1)] as T }
}

/** An instant and the hour that the clock skips or repeats near it, if it does. */
function randomInstant(random: Random, timezone: string) {
  const from = Date.UTC(2009, 0, 1)
  const to = Date.UTC(2032, 0, 1)
  const runs = runsOf(timezone).filter(({ start }) => start > from && start < to)
  const near = runs.length > 0 && random.share() < 0.85 ? random.pick(runs) : null
  const base = near === null ? from + random.share() * (to - from) : near.start + random.between(-36, 36) * HOUR
  const minute = Math.floor(base / 60_000) * 60_000 + random.between(-60, 60) * 60_000
  const instant = minute + random.pick([0, 0, 0, random.between(1, 59) * 1000, random.between(1, 59_999)])
  return { instant, hourAtChange: near === null ? random.between(0, 23) : hourBefore(near.start + near.offset) }
}

/** Where the clock arrives with a jump, the hour before was skipped; where it goes back to, an hour begins again. */
function hourBefore(shown: number): number {
  return new Date(shown - 1).getUTCHours()
}

function randomCron(random: Random, hourAtChange: number): string {
  const { between, pick, share } = random
  const minute = pick([
    () => `${between(0, 59)}`,
    () => `${between(0, 29)},${between(30, 59)}`,
    () => `*/${pick([5, 7, 10, 15, 20, 30])}`,
    () => `${between(0, 20)}-${between(21, 59)}/${between(3, 20)}`,
    () => `${between(0, 20)}-${between(21, 59)}`,
    () => '0',
    () => '30',
    () => '*',
  ])()
  const hour = pick([
    () => `${hourAtChange}`,
    () => `${(hourAtChange + 1) % 24}`,
    () => `${between(0, hourAtChange)}-${hourAtChange}`,
    () => '*',
    () => `${between(0, 4)}`,
    () => `${between(0, 23)}`,
    () => `${between(0, 2)},${between(3, 23)}`,
    () => `*/${between(2, 6)}`,
    () => `${between(0, 2)}-${between(3, 23)}`,
    () => '0',
    () => '23',
    () => '0-23/2',
  ])()
  const dayOfMonth = pick([
    () => '*',
    () => '*',
    () => '*',
    () => `${between(1, 31)}`,
    () => `*/${between(2, 10)}`,
    () => `${between(1, 10)}-${between(11, 31)}`,
    () => 'L',
    () => 'LW',
    () => `${between(1, 31)}W`,
    () => `${between(1, 15)},L`,
  ])()
  const dayOfWeek = pick([
    () => '*',
    () => '*',
    () => '*',
    () => `${between(0, 7)}`,
    () => `${between(0, 2)}-${between(3, 6)}`,
    () => `${between(0, 6)}#${between(1, 4)}`,
    () => `${between(0, 6)}L`,
    () => `+${between(0, 6)}`,
  ])()
  const month = share() < 0.85 ? '*' : pick([`${between(1, 12)}`, '*/3', '3,4,9,10,11', '1-6'])
  const fields = [minute, hour, dayOfMonth, month, dayOfWeek]
  if (share() < 0.25) fields.unshift(pick(['0', '59', '*/20', '15,45', '0-10']))
  return fields.join(' ')
}
