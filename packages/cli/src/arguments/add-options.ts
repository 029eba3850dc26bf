import type { Command } from 'commander'

/** The options that say where the database is, and --json. */
export function withDatabaseOptions(command: Command): Command {
  return command
    .option('--database-url <url>', 'PostgreSQL connection string (or the environment variable DATABASE_URL)')
    .option('--embedded [directory]', 'use the embedded PostgreSQL of this directory (default: .data/postgres)')
    .option('--config <file>', 'config file (default: pg-tasks.config.json, .js or .mjs in this folder)')
    .option('--json', 'print JSON')
}

/** Examples at the end of a command's help. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`)
}
