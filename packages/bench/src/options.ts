import { parseArgs } from 'node:util'

/** What the command line says. */
export interface BenchOptions {
  /** Names of the scenarios to run; empty: all. */
  readonly scenarios: readonly string[]
  /** Only participants whose name has one of these in it; empty: all. */
  readonly participants: readonly string[]
  /** Smaller and fewer runs, to see that everything works; the numbers say little. */
  readonly quick: boolean
  /** Runs of each participant. */
  readonly rounds: number
  /** A run during which others used more of the machine than this share is repeated; undefined: none is. */
  readonly maxOthers: number | undefined
  /** Minutes of those scenarios that take minutes. */
  readonly minutes: number | undefined
  /** A server to measure, instead of an embedded one. */
  readonly url: string | undefined
  /** Where the results go; a file that is there keeps its other scenarios. */
  readonly json: string | undefined
  /** Renews docs/benchmarks.md from the results. */
  readonly docs: boolean
  readonly list: boolean
}

export const USAGE = `npm run bench -- [options]

  --scenario NAME   only this one; may be given several times
  --participant T   only those with this text in their name (ours, graphile-worker/preset …); may be given several times
  --list            names of the scenarios
  --quick           small and few runs: shows that everything works, measures little
  --rounds N        runs of each participant (5; with --quick 1)
  --max-others X    repeat a run, up to five times, while others use more than this share of the machine; keep the quietest
  --minutes N       length of the scenarios that take minutes
  --url URL         measure this server instead of an embedded one; the role must be allowed to create databases
  --json FILE       write the results there; scenarios that the file has already are replaced, others stay
  --docs            write docs/benchmarks.md from the file given by --json, after the run; with --rounds 0 without one`

export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scenario: { type: 'string', multiple: true, default: [] },
      participant: { type: 'string', multiple: true, default: [] },
      list: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      'max-others': { type: 'string' },
      minutes: { type: 'string' },
      url: { type: 'string' },
      json: { type: 'string' },
      docs: { type: 'boolean', default: false },
    },
  })
  if (values.docs && values.json === undefined) throw new Error('--docs needs --json FILE')
  return {
    scenarios: values.scenario,
    participants: values.participant,
    list: values.list,
    quick: values.quick,
    rounds: numberOf('rounds', values.rounds) ?? (values.quick ? 1 : 5),
    maxOthers: numberOf('max-others', values['max-others']),
    minutes: numberOf('minutes', values.minutes),
    url: values.url,
    json: values.json,
    docs: values.docs,
  }
}

function numberOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value >= 0)) throw new Error(`--${name} must be a number, not ${text}`)
  return value
}
