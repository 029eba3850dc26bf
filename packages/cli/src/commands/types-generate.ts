import { readFileSync, writeFileSync } from 'node:fs'
import { describeType, listTypes, ownColumns } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { CliError } from '../cli-error.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { withClient } from '../connection/with-client.js'
import { type GeneratedType, typesModule } from '../generate/types-module.js'
import { Output } from '../output/output.js'

interface GenerateOptions extends DatabaseOptions {
  readonly out?: string
  readonly check?: boolean
}

/** `pg-tasks types generate` */
export function typesGenerateCommand(): Command {
  const command = new Command('generate')
    .description(
      'Write TypeScript row types of the registered tables, for Task and for Kysely, and their columns as values.',
    )
    .option('-o, --out <file>', 'file to write (default: print it)')
    .option('--check', 'only tell whether the file is current; exit code 1 if it is not')
    .action(async (options: GenerateOptions) => {
      const types = await withClient(options, async (client) => {
        const found: GeneratedType[] = []
        for (const { schema, table, there } of await listTypes(client)) {
          const type = there ? await describeType(client, schema, table) : undefined
          if (type !== undefined) found.push({ schema, table, columns: await ownColumns(client, type.tableId) })
        }
        return found
      })
      const text = typesModule(types)
      const { out } = options
      const names = types.map(({ schema, table }) => `${schema}.${table}`)
      if (out === undefined) {
        if (options.json === true) new Output(options).answer({ types: names, text }, () => text)
        else process.stdout.write(text)
        return
      }
      const current = readIfThere(out) === text
      if (options.check === true && !current) {
        throw new CliError(`${out} is not what the database says.`, { hint: `pg-tasks types generate --out ${out}` })
      }
      if (!current) writeFileSync(out, text)
      new Output(options).answer({ out, types: names, changed: !current }, () => {
        return current ? `${out} is current.\n` : `${out}: ${names.length} types written.\n`
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks types generate --out src/task-types.ts',
    'pg-tasks types generate --out src/task-types.ts --check',
  ])
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
