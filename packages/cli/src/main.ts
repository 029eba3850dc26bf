import { normalizeArguments } from './arguments/normalize-arguments.js'
import { program } from './program.js'
import { reportError } from './report-error.js'

try {
  await program().parseAsync(normalizeArguments(process.argv.slice(2)), { from: 'user' })
} catch (error) {
  process.exitCode = reportError(error)
}
