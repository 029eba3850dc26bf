import { type Connection, type Queryable, toQueryable } from '../connection.js'
import { migrationStatus } from '../migrate/migration-status.js'
import type { Check, Examination } from './check.js'
import { autovacuumCheck } from './checks/autovacuum.js'
import { clockCheck } from './checks/clock.js'
import { columnsCheck } from './checks/columns.js'
import { deadRowsCheck } from './checks/dead-rows.js'
import { failedTasksCheck } from './checks/failed-tasks.js'
import { indexesCheck } from './checks/indexes.js'
import { leasesCheck } from './checks/leases.js'
import { migrationsFindings } from './checks/migrations.js'
import { notificationQueueCheck } from './checks/notification-queue.js'
import { overdueCheck } from './checks/overdue.js'
import { pausedCheck } from './checks/paused.js'
import { rulesCheck } from './checks/rules.js'
import { schedulesCheck } from './checks/schedules.js'
import { tableShapeCheck } from './checks/table-shape.js'
import { typesCheck } from './checks/types.js'
import { unregisteredCheck } from './checks/unregistered.js'
import { type DoctorOptions, resolveDoctorOptions } from './doctor-options.js'
import { examinedTypes } from './examined-types.js'
import { type CheckResult, checkResult, type Finding } from './finding.js'

const CHECKS: readonly Check[] = [
  typesCheck,
  unregisteredCheck,
  columnsCheck,
  tableShapeCheck,
  indexesCheck,
  autovacuumCheck,
  deadRowsCheck,
  notificationQueueCheck,
  clockCheck,
  leasesCheck,
  overdueCheck,
  failedTasksCheck,
  pausedCheck,
  rulesCheck,
  schedulesCheck,
]

/**
 * Looks for what slows the queue down, holds it up, or soon will: one result per check, each finding with its remedy. It only
 * reads; what the caller may not see is said as a finding. Don't call it in a transaction: it would look with one snapshot,
 * and after the first refusal see nothing more.
 *
 * @example
 * const sick = (await diagnose(pool)).filter((result) => result.severity !== 'ok')
 */
export async function diagnose(connection: Connection, options: DoctorOptions = {}): Promise<CheckResult[]> {
  const resolved = resolveDoctorOptions(options)
  const queryable = toQueryable(connection)
  const migrations = checkResult('migrations', 'Migrations', migrationsFindings(await migrationStatus(queryable)))
  // Without the schema, or with one that this version doesn't know, nothing else can be asked.
  if (migrations.severity === 'critical') return [migrations]
  const examination = { connection: queryable, options: resolved, types: await examinedTypes(queryable) }
  const results = [migrations]
  for (const check of CHECKS) results.push(checkResult(check.name, check.title, await findingsOf(check, examination)))
  return results
}

async function findingsOf(check: Check, examination: Examination): Promise<readonly Finding[]> {
  try {
    return await check.examine(examination)
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    if (code !== '42501') throw error
    return [
      {
        code: 'not_permitted',
        severity: 'info',
        subject: null,
        problem: `This check could not look: ${message}.`,
        remedy:
          "Ask as a role that may read the schema tasks: select tasks.grant_to('<role>', 'operator', '<schema>', '<table>').",
        details: { user: await currentUser(examination.connection), message },
      },
    ]
  }
}

async function currentUser(connection: Queryable): Promise<string> {
  const { rows } = await connection.query('select current_user::text as name')
  return (rows[0] as { name: string }).name
}
