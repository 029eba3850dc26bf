import { execFile } from 'node:child_process'
import { appendFileSync, chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startTestServer, type TestServer } from './test-server.js'
import { waitFor } from './wait-for.js'
import { withClient } from './with-client.js'

const run = promisify(execFile)

export interface ReplicaOptions {
  /**
   * Whether a commit on the primary waits until the replica has it.
   *
   * @defaultValue false
   */
  readonly synchronous?: boolean
}

export interface Replica extends TestServer {
  /** Waits until everything is here that the primary has written up to now. */
  catchUp(): Promise<void>
  /** Makes it the primary. */
  promote(): Promise<void>
}

/** Starts a streaming replica of a running server. Databases are reached as on the primary, by the replica's own `url`. */
export async function startReplica(primary: TestServer, options: ReplicaOptions = {}): Promise<Replica> {
  return follow(await startTestServer({ prepare: (directory) => copyPrimary(primary, directory) }), primary, options)
}

/** Makes a server that has ended a replica of another one: a former primary, after a failover. Its url stays. */
export async function rejoin(server: TestServer, primary: TestServer, options: ReplicaOptions = {}): Promise<Replica> {
  rmSync(join(server.directory, 'data'), { recursive: true, force: true })
  await copyPrimary(primary, server.directory)
  await server.restart()
  return follow(server, primary, options)
}

async function follow(server: TestServer, primary: TestServer, { synchronous }: ReplicaOptions): Promise<Replica> {
  if (synchronous) await makeSynchronous(primary)
  return Object.assign(Object.create(server) as TestServer, {
    catchUp: () => catchUp(primary.url, server.url),
    promote: async () => {
      await withClient(server.url, (client) => client.query('select pg_promote(true, 10)'))
    },
  })
}

/** An online backup without pg_basebackup, which the binaries from npm lack. */
async function copyPrimary(primary: TestServer, directory: string): Promise<void> {
  const data = join(directory, 'data')
  await withClient(primary.url, async (client) => {
    const { rows } = await client.query<{ major: number }>(
      "select current_setting('server_version_num')::integer / 10000 as major",
    )
    const isOld = (rows[0]?.major ?? 0) < 15
    await client.query(isOld ? "select pg_start_backup('x', true, false)" : "select pg_backup_start('x', true)")
    // Files that vanish meanwhile make cp complain; the WAL brings what they were about.
    await run('cp', ['-a', join(primary.directory, 'data'), join(primary.directory, 'password'), directory]).catch(
      () => {},
    )
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(data, name), { force: true })
    for (const name of readdirSync(join(data, 'pg_wal'))) {
      if (/^[0-9A-F]{24}/.test(name)) rmSync(join(data, 'pg_wal', name))
    }
    const stopped = await client.query<{ labelfile: string }>(
      `select labelfile from ${isOld ? 'pg_stop_backup(false, false)' : 'pg_backup_stop(false)'}`,
    )
    writeFileSync(join(data, 'backup_label'), stopped.rows[0]?.labelfile ?? '')
  })
  const { port, username, password } = new URL(primary.url)
  writeFileSync(join(data, 'standby.signal'), '')
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${port} user=${username} password=${password} application_name=replica'\n`,
  )
  const { uid, gid } = statSync(data)
  for (const path of [directory, join(data, 'backup_label'), join(data, 'standby.signal')]) chownSync(path, uid, gid)
}

async function makeSynchronous(primary: TestServer): Promise<void> {
  await withClient(primary.url, async (client) => {
    await client.query("alter system set synchronous_standby_names = 'replica'")
    await client.query('select pg_reload_conf()')
    const isSynchronous = async () =>
      (await client.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount === 1
    await waitFor(isSynchronous, { what: 'a synchronous replica' })
  })
}

async function catchUp(primaryUrl: string, replicaUrl: string): Promise<void> {
  let position = ''
  await withClient(primaryUrl, async (client) => {
    position = (await client.query<{ lsn: string }>('select pg_current_wal_lsn()::text as lsn')).rows[0]?.lsn ?? ''
  })
  await withClient(replicaUrl, async (client) => {
    const isThere = async () =>
      (await client.query('select where pg_last_wal_replay_lsn() >= $1::pg_lsn', [position])).rowCount === 1
    await waitFor(isThere, { what: `position ${position} on the replica` })
  })
}
