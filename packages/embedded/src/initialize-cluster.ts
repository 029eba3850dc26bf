import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import type { Binaries } from './binaries.js'
import type { ClusterLayout } from './cluster-layout.js'
import { EmbeddedPostgresError } from './errors.js'
import { ensurePassword } from './password.js'
import { processExists } from './process-state.js'
import { randomSuffix } from './random-suffix.js'
import { runCommand } from './run-command.js'
import type { ServerUser } from './server-user.js'

/**
 * Makes the cluster if there is none: UTF-8, C.UTF-8 sorting where PostgreSQL has it built in, passwords by scram-sha-256.
 *
 * It is made under another name and renamed, so that an interrupted initdb leaves no half cluster, and the loser of two
 * racing starts throws its own away.
 */
export async function initializeCluster(layout: ClusterLayout, binaries: Binaries, user: ServerUser): Promise<void> {
  if (existsSync(join(layout.data, 'PG_VERSION'))) return verifyCluster(layout, binaries)
  removeLeftovers(layout)
  ensurePassword(layout.password, user)
  keepOutOfGit(layout)

  const draft = `${layout.data}.new-${process.pid}-${randomSuffix()}`
  mkdirSync(draft, { mode: 0o700 })
  try {
    if (user.kind === 'switch') chownSync(draft, user.uid, user.gid)
    const { exitCode, output } = await runCommand(user, binaries.initdb, initdbArguments(draft, layout, binaries), {
      cwd: layout.directory,
    })
    if (exitCode !== 0) {
      throw new EmbeddedPostgresError('EMBEDDED_INIT_FAILED', `initdb failed in ${layout.directory}:\n${output.trim()}`)
    }
    moveIntoPlace(draft, layout)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** A cluster mostly lies in somebody's project, and its password beside it. */
function keepOutOfGit({ directory }: ClusterLayout): void {
  const file = join(directory, '.gitignore')
  if (!existsSync(file)) writeFileSync(file, '*\n')
}

function initdbArguments(draft: string, layout: ClusterLayout, { major }: Binaries): string[] {
  const locale = major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] : ['--locale=C']
  return [
    ['-D', draft, '-U', 'postgres', `--pwfile=${layout.password}`],
    ['--auth=scram-sha-256', '--encoding=UTF8', ...locale],
  ].flat()
}

function moveIntoPlace(draft: string, layout: ClusterLayout): void {
  try {
    renameSync(draft, layout.data)
  } catch (cause) {
    if (existsSync(join(layout.data, 'PG_VERSION'))) return
    throw foreign(layout, `${layout.data} is in the way of a new cluster: name another directory`, cause)
  }
  syncDirectory(layout.directory)
}

/** initdb has synced its files; without this, a power cut could still lose their folder's name. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

function verifyCluster(layout: ClusterLayout, binaries: Binaries): void {
  const major = Number.parseInt(readFileSync(join(layout.data, 'PG_VERSION'), 'utf8'), 10)
  if (major !== binaries.major) {
    throw new EmbeddedPostgresError(
      'EMBEDDED_VERSION_MISMATCH',
      `${layout.data} was made by PostgreSQL ${major}, and the binaries are PostgreSQL ${binaries.major}. Start it with ` +
        `binaries of version ${major} (option binaries), dump its databases, and restore them in a new directory.`,
    )
  }
  if (!existsSync(layout.password)) {
    throw foreign(layout, `There is a cluster, but no ${layout.password}: start() made neither. Name another directory`)
  }
}

/** What an interrupted initdb of a process that is no more has left. */
function removeLeftovers(layout: ClusterLayout): void {
  for (const name of readdirSync(layout.directory)) {
    const [, pid] = /^data\.new-(\d+)-/.exec(basename(name)) ?? []
    if (pid !== undefined && !processExists(Number(pid))) {
      rmSync(join(layout.directory, name), { recursive: true, force: true })
    }
  }
}

function foreign(layout: ClusterLayout, reason: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError('EMBEDDED_DIRECTORY_FOREIGN', `${reason} (${layout.directory}).`, { cause })
}
