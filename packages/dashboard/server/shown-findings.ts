import { type CheckResult, type Finding, MASKED, type StoredSchedule } from '@pg-tasks/sql'
import { ruleOf, shownError } from './column-rules.js'
import type { ResolvedDashboardOptions } from './dashboard-options.js'

type Rules = ResolvedDashboardOptions['columns']

/** The doctor's results without what columns hold that may not be shown: it quotes the errors of tasks and of schedules. */
export function shownFindings(
  rules: Rules,
  checks: readonly CheckResult[],
  schedules: readonly StoredSchedule[],
): CheckResult[] {
  const shown = (check: string, finding: Finding): Finding =>
    check === 'schedules'
      ? ofSchedule(
          rules,
          finding,
          schedules.find(({ key }) => key === finding.subject),
        )
      : ofTasks(rules, finding)
  return checks.map((result) => ({
    ...result,
    findings: result.findings.map((finding) => shown(result.check, finding)),
  }))
}

function ofTasks(rules: Rules, finding: Finding): Finding {
  const { lastError, schema, table } = finding.details
  if (typeof lastError !== 'string') return finding
  if (ruleOf(rules, String(schema), String(table), 'last_error') === undefined) return finding
  const [firstLine = ''] = lastError.split('\n', 1)
  return {
    ...finding,
    problem: firstLine === '' ? finding.problem : finding.problem.replaceAll(firstLine, MASKED),
    details: { ...finding.details, lastError: MASKED },
  }
}

/** Without the schedule, which is gone meanwhile, nobody knows what the error quotes. */
function ofSchedule(rules: Rules, finding: Finding, schedule: StoredSchedule | undefined): Finding {
  const { error } = finding.details
  if (typeof error !== 'string') return finding
  const shown =
    schedule === undefined
      ? MASKED
      : (shownError(rules, schedule.schema, schedule.table, schedule.columns, error) ?? MASKED)
  return {
    ...finding,
    problem: finding.problem.replaceAll(error, shown),
    details: { ...finding.details, error: shown },
  }
}
