import { join } from 'node:path'
import { Bench } from './bench.js'
import { readOptions, USAGE } from './options.js'
import { writeDocs } from './report/docs-page.js'
import { readResults, writeResults } from './report/result-file.js'
import { aimsOf, alignTable, tableOf } from './report/table.js'
import type { ScenarioResult } from './results.js'
import { SCENARIOS } from './scenarios/index.js'
import { BenchServer } from './server/bench-server.js'

const DOCS = join(import.meta.dirname, '..', '..', '..', 'docs')

/** The program: npm run bench. */
const options = (() => {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}\n`)
    process.exit(2)
  }
})()

if (options.list) {
  for (const { name, title } of SCENARIOS) print(`${name.padEnd(20)} ${title}`)
} else {
  await main()
}

async function main(): Promise<void> {
  const unknown = options.scenarios.find((name) => !SCENARIOS.some((scenario) => scenario.name === name))
  if (unknown !== undefined) throw new Error(`There is no scenario ${unknown}; --list names them`)
  const chosen = SCENARIOS.filter(({ name, long }) =>
    options.scenarios.length > 0 ? options.scenarios.includes(name) : long !== true,
  )
  if (options.rounds > 0) await runAll(chosen)
  if (options.docs && options.json !== undefined) {
    writeDocs(DOCS, inOrder(readResults(options.json)))
    print('docs/benchmarks.md is written.')
  }
}

async function runAll(chosen: typeof SCENARIOS): Promise<void> {
  const begun = performance.now()
  const server = await BenchServer.open(options.url)
  try {
    const bench = new Bench(options, server, print)
    for (const scenario of chosen) {
      print(`\n${scenario.title}`)
      const reason = scenario.unavailable?.()
      if (reason !== undefined) {
        print(`  left out: ${reason}`)
        continue
      }
      const result = bench.result(scenario, await scenario.measure(bench))
      show(result)
      if (options.json !== undefined) writeResults(options.json, [result])
    }
  } finally {
    await server.close()
  }
  const seconds = Math.round((performance.now() - begun) / 1000)
  print(
    `\n${chosen.length} scenarios ran in ${seconds} s${options.quick ? '; quick runs show that it works, no more' : ''}.`,
  )
}

function show(result: ScenarioResult): void {
  print(`\n${alignTable(tableOf(result))}`)
  if (result.aims.length > 0 && !result.quick) print(`\n${alignTable(aimsOf(result))}`)
}

function inOrder(results: readonly ScenarioResult[]): ScenarioResult[] {
  return SCENARIOS.flatMap(({ name }) => results.filter((result) => result.name === name))
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
