import { spawn } from 'node:child_process'
import { NAMESPACE_COMMAND, type ServerUser } from './server-user.js'

export interface CommandResult {
  /** `null` if a signal ended it or it couldn't be started. */
  readonly exitCode: number | null
  readonly output: string
  /** Why it couldn't be started: EACCES, ENOENT, … */
  readonly spawnError: string | undefined
}

export interface CommandOptions {
  readonly cwd: string
  /**
   * Survive us: a session of its own, out of reach of the terminal's Ctrl-C, and no pipe that would break with us. The
   * output is lost.
   */
  readonly detached?: boolean
}

/** Runs a program of PostgreSQL as the server's user. Failing is a result, not an exception. */
export function runCommand(
  user: ServerUser,
  file: string,
  args: readonly string[],
  { cwd, detached = false }: CommandOptions,
): Promise<CommandResult> {
  const [command, ...rest] = user.kind === 'namespace' ? [...NAMESPACE_COMMAND, file, ...args] : [file, ...args]
  return new Promise((resolve) => {
    const child = spawn(command ?? file, rest, {
      cwd,
      env: serverEnvironment(),
      detached,
      stdio: detached ? 'ignore' : ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      ...(user.kind === 'switch' ? { uid: user.uid, gid: user.gid } : {}),
    })
    let output = ''
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ exitCode: null, output: output || error.message, spawnError: error.code ?? error.message }),
    )
    child.once('close', (exitCode) => resolve({ exitCode, output, spawnError: undefined }))
  })
}

/** PGDATA, PGPORT and their kin are meant for other servers; messages are read by us, so they come in English. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !name.startsWith('LC_'))
  return { ...Object.fromEntries(kept), LC_ALL: 'C' }
}
