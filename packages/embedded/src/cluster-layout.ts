import { join } from 'node:path'

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

export function clusterLayout(directory: string): ClusterLayout {
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
