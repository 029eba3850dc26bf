import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

export const ROOT = join(import.meta.dirname, '..', '..')
const execute = promisify(execFile)

interface Packed {
  readonly folder: string
  readonly tarball: string
  readonly manifest: {
    readonly name: string
    readonly exports: Readonly<Record<string, unknown>>
    readonly bin?: Readonly<Record<string, string>>
  }
}

/** A package as it would be published, and what it weighs in bytes. */
export interface WeighedPackage extends Packed {
  readonly size: { readonly packed: number; readonly unpacked: number }
}

interface Scripts {
  withTarballs<R>(work: (packages: readonly Packed[]) => Promise<R>): Promise<R>
  measureSize(one: Packed, packages: readonly Packed[]): Promise<WeighedPackage['size']>
}

/** A project that has our packages installed from their tarballs, and nothing of the workspace above it. */
export interface Consumer {
  readonly folder: string
  readonly packages: readonly WeighedPackage[]
  readonly remove: () => void
}

/** Builds and packs what is in the work tree, and installs it into a new project beside what a user installs besides. */
export async function installConsumer(): Promise<Consumer> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-tasks-consumer-'))
  await execute('npm', ['run', 'build'], { cwd: ROOT })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  cpSync(join(import.meta.dirname, 'consumer'), folder, { recursive: true })
  const { withTarballs } = await loadScript('pack.js')
  const packages = await withTarballs(async (packed) => {
    await install(folder, packed)
    return weigh(packed)
  })
  return { folder, packages, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

async function install(folder: string, packages: readonly Packed[]): Promise<void> {
  // The binaries of the embedded server are optional, heavy and not what is tried here.
  const words = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--omit=optional']
  const besides = ['pg', '@types/pg', '@types/node@20']
  await execute('npm', [...words, ...packages.map(({ tarball }) => tarball), ...besides], { cwd: folder })
}

async function weigh(packages: readonly Packed[]): Promise<readonly WeighedPackage[]> {
  const { measureSize } = await loadScript('size.js')
  const weighed: WeighedPackage[] = []
  for (const one of packages) weighed.push({ ...one, size: await measureSize(one, packages) })
  return weighed
}

async function loadScript(name: string): Promise<Scripts> {
  return (await import(pathToFileURL(join(ROOT, 'scripts', 'packages', name)).href)) as Scripts
}

/** Runs a program in a folder; resolves with what it printed and its exit code. */
export async function runIn(
  folder: string,
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', ...env } }
  try {
    const { stdout, stderr } = await execute(program, words, options)
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}
