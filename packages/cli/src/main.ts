import { normalizeArguments } from './arguments/normalize-arguments.js'
import { surviveClosedPipes } from './output/survive-closed-pipes.js'
import { program } from './program.js'
import { reportError } from './report-error.js'

surviveClosedPipes((error) => {
  // `pg-tasks list mail | head -1`, or the disk is full.
  if (error.code === 'EPIPE') process.exit()
  process.exit(reportError(error))
})

try {
  await program().parseAsync(normalizeArguments(process.argv.slice(2)), { from: 'user' })
} catch (error) {
  process.exitCode = reportError(error)
}
