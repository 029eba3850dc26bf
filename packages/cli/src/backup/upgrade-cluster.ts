import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { start, stop } from '@pg-tasks/embedded'
import { CliError } from '../cli-error.js'
import { newClient } from '../connection/with-client.js'
import { readBackup } from './read-backup.js'
import { writeBackup } from './write-backup.js'

export interface UpgradeCluster {
  readonly directory: string
  /** Folder of the binaries that the cluster was made by; undefined: those that are installed. */
  readonly oldBinaries: string | undefined
  readonly newBinaries: string | undefined
  readonly partial: boolean
  readonly progress: boolean
}

/** Where everything is after an upgrade. */
export interface UpgradedCluster {
  readonly from: string
  readonly to: string
  /** The cluster as it was. */
  readonly old: string
  readonly backup: string
}

/**
 * Moves a cluster to the installed PostgreSQL: a backup by the old binaries, restored in a new cluster, which then takes the
 * directory's name. The old one stays beside it.
 */
export async function upgradeCluster(options: UpgradeCluster): Promise<UpgradedCluster> {
  const { directory, oldBinaries, newBinaries, partial, progress } = options
  const from = clusterVersion(directory)
  const [old, backup, fresh] = [`${directory}-${from}`, `${directory}-${from}-backup`, `${directory}-new`]
  const taken = [old, backup].find((path) => existsSync(path))
  if (taken !== undefined) throw new CliError(`${taken} is in the way: is it left of another upgrade?`)
  rmSync(fresh, { recursive: true, force: true })

  const before = await start(directory, oldBinaries === undefined ? {} : { binaries: oldBinaries })
  try {
    await onClient(before.url, (client) => writeBackup(client, { folder: backup, partial, progress }))
  } finally {
    await before.stop()
  }
  const after = await start(fresh, newBinaries === undefined ? {} : { binaries: newBinaries })
  try {
    await onClient(after.url, (client) => readBackup(client, { folder: backup, progress }))
  } finally {
    await after.stop()
  }
  await stop(directory)
  renameSync(directory, old)
  renameSync(fresh, directory)
  return { from, to: clusterVersion(directory), old, backup }
}

function clusterVersion(directory: string): string {
  try {
    return readFileSync(join(directory, 'data', 'PG_VERSION'), 'utf8').trim()
  } catch (cause) {
    throw new CliError(`There is no cluster in ${directory}.`, { cause })
  }
}

async function onClient<Value>(
  url: string,
  work: (client: ReturnType<typeof newClient>) => Promise<Value>,
): Promise<Value> {
  const client = newClient(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
