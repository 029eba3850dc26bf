import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ScenarioResult } from '../results.js'

/** Reads results; none if there is no such file. */
export function readResults(path: string): readonly ScenarioResult[] {
  if (!existsSync(path)) return []
  return (JSON.parse(readFileSync(path, 'utf8')) as { scenarios: ScenarioResult[] }).scenarios
}

/** Writes results; of a scenario that the file has already the new result stays. */
export function writeResults(path: string, results: readonly ScenarioResult[]): void {
  const names = new Set(results.map((result) => result.name))
  const scenarios = [...readResults(path).filter((result) => !names.has(result.name)), ...results]
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify({ scenarios }, undefined, 2)}\n`)
}
