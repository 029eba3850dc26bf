import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScenarioResult } from '../results.js'
import { svgBars } from './svg-bars.js'
import { aimsOf, markdownTable, tableOf } from './table.js'

const INTRODUCTION = `# Benchmarks

pg-tasks beside [graphile-worker](https://worker.graphile.org) and [pg-boss](https://pgboss.io), measured by
\`npm run bench\` (package \`packages/bench\`). This page is written by that command: change the package, not the page.

\`\`\`sh
npm run bench -- --json packages/bench/results/results.json          # all scenarios but those that take minutes
npm run bench -- --scenario drain --rounds 9                         # one of them
npm run bench -- --rounds 0 --json packages/bench/results/results.json --docs   # this page from the results
\`\`\`

How to read it:

- Each run has a fresh database and a fresh process; all run on the same Node and the same server, an embedded PostgreSQL that
  syncs every commit to disk. The participants of a scenario take turns, and what stands in the tables is the median, with the
  smallest and the largest in parentheses.
- Trust the ratios of one table. Absolute numbers are those of one machine, which others may have used meanwhile: "others' CPU"
  is their share of it.
- CPU seconds are per 10,000 tasks, of the Node process and of the whole server; WAL is in bytes per task; a statement is a
  round trip.
- Peers run with the best settings that their documentation names, and with their defaults.
- pg-tasks gives up nothing for these numbers: finishing is fenced and awaited, leases are renewed, and the wake-up protocol is
  on, unless a row says otherwise.
- Aims are ratios that the project set itself before it measured; those that are missed stand here too, and
  [why](explanations/performance.md#where-others-are-faster).
`

/** Writes docs/benchmarks.md and its pictures. */
export function writeDocs(folder: string, results: readonly ScenarioResult[]): void {
  const pictures = join(folder, 'benchmarks')
  rmSync(pictures, { recursive: true, force: true })
  mkdirSync(pictures, { recursive: true })
  for (const result of results) writeFileSync(join(pictures, `${result.name}.svg`), svgBars(result))
  writeFileSync(join(folder, 'benchmarks.md'), [INTRODUCTION, ...results.map(section)].join('\n'))
}

function section(result: ScenarioResult): string {
  const { machine, rounds, versions } = result
  const runs = rounds === 1 ? 'one run each' : `${rounds} rounds`
  return [
    `## ${result.title}`,
    '',
    result.about,
    '',
    `![${result.title}](benchmarks/${result.name}.svg)`,
    '',
    markdownTable(tableOf(result)),
    '',
    ...(result.aims.length === 0 ? [] : [markdownTable(aimsOf(result)), '']),
    'Settings:',
    '',
    ...settingsOf(result).map((line) => `- ${line}`),
    '',
    `Measured on ${result.date.slice(0, 10)}, ${runs}: ${machine.processor}, ${machine.cores} cores, ${machine.memoryGb} GB, ` +
      `${machine.system}, load ${machine.loadAverage}; ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version.replace(/^v/, '')}`)
        .join(', ')}. Server: ${result.server}.`,
    '',
  ].join('\n')
}

function settingsOf(result: ScenarioResult): string[] {
  return [...new Set(result.rows.map((row) => `${row.participant}: ${row.settings}`))]
}
