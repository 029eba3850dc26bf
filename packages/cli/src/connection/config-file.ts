import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { didYouMean } from '../arguments/did-you-mean.js'
import { UsageError } from '../cli-error.js'

/** What `pg-tasks.config.json`, `.js` or `.mjs` says (the latter two as their default export). */
export interface ConfigFile {
  /** Where the database is. */
  readonly databaseUrl?: string
  /** The embedded server: `true` for `.data/postgres`, or its directory. */
  readonly embedded?: boolean | string
  /** Modules that export tasks, for `worker`, `dev` and `doctor`. */
  readonly tasks?: readonly string[]
  /** Tasks of a type at a time in one process. */
  readonly concurrency?: number
  /** Processes of `worker`. */
  readonly processes?: number
}

const NAMES = ['pg-tasks.config.json', 'pg-tasks.config.js', 'pg-tasks.config.mjs']

const KINDS: Readonly<Record<keyof ConfigFile, (value: unknown) => boolean>> = {
  databaseUrl: (value) => typeof value === 'string' && value !== '',
  embedded: (value) => typeof value === 'boolean' || typeof value === 'string',
  tasks: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  concurrency: (value) => Number.isInteger(value) && (value as number) > 0,
  processes: (value) => Number.isInteger(value) && (value as number) > 0,
}

/** Reads the file that is named, else one of the usual names in this folder; empty where there is none. */
export async function readConfigFile(named: string | undefined): Promise<ConfigFile> {
  const file = resolve(named ?? NAMES.find((name) => existsSync(name)) ?? '')
  if (named === undefined && !NAMES.some((name) => existsSync(name))) return {}
  if (!existsSync(file)) throw new UsageError(`There is no ${file}.`)
  return checked(file, file.endsWith('.json') ? await readJson(file) : await importDefault(file))
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`${file} is no JSON: ${(error as Error).message}`)
  }
}

async function importDefault(file: string): Promise<unknown> {
  const module = (await import(pathToFileURL(file).href)) as { readonly default?: unknown }
  return module.default
}

function checked(file: string, value: unknown): ConfigFile {
  if (typeof value !== 'object' || value === null) throw new UsageError(`${file} must give an object.`)
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(KINDS, name)) {
      const meant = didYouMean(name, Object.keys(KINDS))
      const advice = meant === undefined ? `There are: ${Object.keys(KINDS).join(', ')}.` : `Did you mean "${meant}"?`
      throw new UsageError(`${file}: "${name}" is unknown.`, advice)
    }
    if (!KINDS[name as keyof ConfigFile](given))
      throw new UsageError(`${file}: "${name}" can't be ${JSON.stringify(given)}.`)
  }
  return value as ConfigFile
}
