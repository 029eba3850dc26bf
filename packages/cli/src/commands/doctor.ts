import { type CheckResult, diagnose, probeListening, probePooler, type Severity, worst } from '@pg-tasks/sql'
import { Command } from 'commander'
import { withDatabaseOptions, withExamples } from '../arguments/add-options.js'
import { parseDuration } from '../arguments/parse-duration.js'
import { UsageError } from '../cli-error.js'
import type { DatabaseOptions } from '../connection/choose-database.js'
import { newClient, withClient } from '../connection/with-client.js'
import { EXIT_CODES } from '../exit-codes.js'
import { Output } from '../output/output.js'
import type { Painter } from '../output/painter.js'
import { wrap } from '../output/wrap.js'
import { checkModules } from '../worker/check-modules.js'
import { expectedColumns } from '../worker/expected-columns.js'

interface DoctorCommandOptions extends DatabaseOptions {
  readonly failOn: 'warning' | 'critical'
  readonly overdue?: number
  readonly quiet?: boolean
}

/** `pg-tasks doctor` */
export function doctorCommand(): Command {
  const command = new Command('doctor')
    .summary('Look for what slows the queue down, holds it up, or soon will.')
    .description(
      'Look for what slows the queue down, holds it up, or soon will. Exit code 5: there are warnings; 6: something is critical.',
    )
    .argument(
      '[modules...]',
      'modules that export tasks: their columns are compared with the tables (default: "tasks" of the config file)',
    )
    .option(
      '--fail-on <severity>',
      'the least severity that is no success: warning or critical',
      parseSeverity,
      'warning',
    )
    .option('--overdue <duration>', 'how long a task may be due without being started (default: 5m)', parseDuration)
    .option('-q, --quiet', 'only print what was found')
    .action(async (modules: string[], options: DoctorCommandOptions) => {
      checkModules(modules)
      await withClient(options, async (client, database) => {
        const files = modules.length > 0 ? modules : (database.config.tasks ?? [])
        const expected = await expectedColumns(files, database.url)
        const results = await diagnose(client, { expected, overdueMs: options.overdue })
        results.push(...(await probes(database.url)))
        const severity = worst(results.map((result) => result.severity))
        const output = new Output(options)
        output.answer({ severity, checks: results }, () => reportText(results, options.quiet === true, output.paint))
        if (severity === 'critical') process.exitCode = EXIT_CODES.CRITICAL.code
        if (severity === 'warning' && options.failOn === 'warning') process.exitCode = EXIT_CODES.WARNING.code
      })
    })
  return withExamples(withDatabaseOptions(command), [
    'pg-tasks doctor',
    'pg-tasks doctor src/tasks.ts',
    'pg-tasks doctor --json --fail-on critical',
  ])
}

/** What two sessions of their own are needed for. */
async function probes(url: string): Promise<CheckResult[]> {
  const [first, second] = [newClient(url), newClient(url)]
  try {
    await first.connect()
    await second.connect()
    const pooler = await probePooler(first, second)
    // Through such a pooler LISTEN would stay on a session that is somebody else's by then.
    return pooler.severity === 'ok' ? [pooler, await probeListening(first, second)] : [pooler]
  } finally {
    await Promise.allSettled([first.end(), second.end()])
  }
}

function reportText(results: readonly CheckResult[], quiet: boolean, paint: Painter): string {
  const lines: string[] = []
  for (const { title, severity, findings } of results) {
    if (quiet && severity === 'ok') continue
    lines.push(`${MARKS[severity](paint)} ${severity === 'ok' ? title : paint.bold(title)}`)
    for (const { problem, remedy } of findings) {
      lines.push(...indented(problem, '    ', '    '), ...indented(remedy, `    ${paint.cyan('→')} `, '      '))
    }
  }
  if (lines.length > 0) lines.push('')
  return `${[...lines, summary(results, paint)].join('\n')}\n`
}

/** Broken between words where somebody reads it; whole lines in a pipe. */
function indented(text: string, first: string, others: string): string[] {
  const width = process.stdout.isTTY ? (process.stdout.columns ?? 100) - others.length : Number.POSITIVE_INFINITY
  return text
    .split('\n')
    .flatMap((line) => wrap(line, width))
    .map((line, at) => (at === 0 ? first : others) + line)
}

const MARKS: Readonly<Record<Severity, (paint: Painter) => string>> = {
  ok: (paint) => paint.green('✓'),
  info: (paint) => paint.cyan('i'),
  warning: (paint) => paint.yellow('!'),
  critical: (paint) => paint.red('✗'),
}

function summary(results: readonly CheckResult[], paint: Painter): string {
  const count = (severity: Severity): number =>
    results.flatMap((result) => result.findings).filter((finding) => finding.severity === severity).length
  const [critical, warnings, infos] = [count('critical'), count('warning'), count('info')]
  const parts = [
    critical > 0 ? paint.red(`${critical} critical`) : '',
    warnings > 0 ? paint.yellow(`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`) : '',
    infos > 0 ? paint.cyan(`${infos} to know`) : '',
  ].filter((part) => part !== '')
  return parts.length === 0
    ? paint.green(`${results.length} checks, nothing found.`)
    : `${results.length} checks: ${parts.join(', ')}.`
}

function parseSeverity(text: string): 'warning' | 'critical' {
  if (text === 'warning' || text === 'critical') return text
  throw new UsageError(`--fail-on is warning or critical, not "${text}".`)
}
