import { type CheckResult, type Finding, MASKED } from '@pg-tasks/sql'
import { ruleOf } from './column-rules.js'
import type { ResolvedDashboardOptions } from './dashboard-options.js'

/** The doctor's results without what columns hold that may not be shown: it quotes the errors of tasks. */
export function shownFindings(
  rules: ResolvedDashboardOptions['columns'],
  checks: readonly CheckResult[],
): CheckResult[] {
  return checks.map((check) => ({ ...check, findings: check.findings.map((finding) => shown(rules, finding)) }))
}

function shown(rules: ResolvedDashboardOptions['columns'], finding: Finding): Finding {
  const { lastError } = finding.details
  if (typeof lastError !== 'string') return finding
  const [schema = '', table = ''] = (finding.subject ?? '').split('.').map((name) => name.replace(/^"(.*)"$/, '$1'))
  if (ruleOf(rules, schema, table, 'last_error') === undefined) return finding
  const [firstLine = ''] = lastError.split('\n', 1)
  return {
    ...finding,
    problem: finding.problem.replaceAll(firstLine, MASKED),
    details: { ...finding.details, lastError: MASKED },
  }
}
