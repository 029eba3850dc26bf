import { join, resolve } from 'node:path'
import { EmbeddedPostgresError } from './errors.js'

/** Where things are inside the directory that the user names. */
export interface ClusterLayout {
  readonly directory: string
  /** The data directory of PostgreSQL. */
  readonly data: string
  /** The superuser's password, readable by its owner only. */
  readonly password: string
  /** What the server writes to its standard error. */
  readonly log: string
  readonly postmasterPid: string
  readonly postmasterOpts: string
}

/** @throws EmbeddedPostgresError if that is no name of a directory */
export function clusterLayout(name: string): ClusterLayout {
  if (typeof name !== 'string' || name === '') {
    throw new EmbeddedPostgresError(
      'EMBEDDED_OPTION_INVALID',
      `directory is ${name === '' ? 'empty' : String(name)}: give the path where the server keeps its data, as '.data/postgres'.`,
    )
  }
  const directory = resolve(name)
  const data = join(directory, 'data')
  return {
    directory,
    data,
    password: join(directory, 'password'),
    log: join(directory, 'server.log'),
    postmasterPid: join(data, 'postmaster.pid'),
    postmasterOpts: join(data, 'postmaster.opts'),
  }
}
