import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../cli-error.js'

/** @throws UsageError that names the first file that isn't there */
export function checkModules(modules: readonly string[]): void {
  const missing = modules.find((written) => !existsSync(resolve(written)))
  if (missing !== undefined) throw new UsageError(`There is no module ${missing}.`)
}
