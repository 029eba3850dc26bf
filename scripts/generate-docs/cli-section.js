import { EXIT_CODES } from '../../packages/cli/src/exit-codes.ts'
import { allCommands, program } from '../../packages/cli/src/program.ts'
import { code, table } from './table.js'

/** Options that most commands have; told once. */
const SHARED = ['--database-url', '--embedded', '--config', '--json']

/** What the help of the command line says: `exit-codes`, `shared-options`, or `commands`. */
export function cliSection(what) {
  switch (what) {
    case 'exit-codes':
      return table(
        ['code', ''],
        Object.values(EXIT_CODES).map((one) => [String(one.code), one.meaning]),
      )
    case 'shared-options':
      return optionsTable(find('stats').options.filter(isShared))
    case 'commands':
      return commands().slice(1).map(commandText).join('\n\n')
    default:
      throw new Error(`There is no section "cli ${what}"`)
  }
}

function commands() {
  return allCommands(program()).filter((command) => command.name() !== 'help')
}

function find(name) {
  return commands().find((command) => command.name() === name)
}

function commandText(command) {
  const path = pathOf(command)
  const parts = [`## ${path}`, command.description()]
  const usage = command.registeredArguments.map(argumentText).join(' ')
  parts.push(['```text', `${path} ${usage}`.trimEnd(), '```'].join('\n'))
  const { registeredArguments: args, options } = command
  if (args.length > 0)
    parts.push(
      table(
        ['argument', ''],
        args.map((one) => [code(one.name()), one.description]),
      ),
    )
  const own = options.filter((option) => !isShared(option))
  if (own.length > 0) parts.push(optionsTable(own))
  const examples = examplesOf(command)
  if (examples !== '') parts.push(['```text', examples, '```'].join('\n'))
  return parts.join('\n\n')
}

function pathOf(command) {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function argumentText(argument) {
  const name = argument.variadic ? `${argument.name()}...` : argument.name()
  return argument.required ? `<${name}>` : `[${name}]`
}

function isShared({ long }) {
  return SHARED.includes(long)
}

function optionsTable(options) {
  return table(
    ['option', ''],
    options.map((option) => [code(option.flags), withDefault(option)]),
  )
}

function withDefault({ description, defaultValue, defaultValueDescription }) {
  if (defaultValue === undefined || defaultValue === true) return description
  return `${description} (default: ${defaultValueDescription ?? defaultValue})`
}

/** What stands behind the help proper. */
function examplesOf(command) {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  const [, examples = ''] = text.split('\nExamples:\n')
  return examples.trimEnd().replaceAll(/^ {2}/gm, '')
}
