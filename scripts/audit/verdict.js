/** Severities that fail the audit. */
const FAILING = ['high', 'critical']

/** What pnpm says when the registry has no audit endpoint, or can't be reached. */
const UNREACHABLE =
  /ERR_PNPM_AUDIT_(BAD_RESPONSE|ENDPOINT_NOT_EXISTS)|ERR_PNPM_\w*(FETCH|REQUEST)\w*|ENOTFOUND|EAI_AGAIN|ECONN(REFUSED|RESET|ABORTED)|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|fetch failed|error sending request/

/**
 * Judges what `pnpm audit --json` has answered. Whatever isn't understood fails: an audit that checks nothing must not pass.
 *
 * @param {{ status: number | null, stdout: string, stderr: string }} result
 * @returns {{ passed: boolean, lines: string[] }}
 */
export function verdictOf({ status, stdout, stderr }) {
  const report = parsed(stdout)
  if (report === undefined) {
    const said = `${stdout}\n${stderr}`.trim()
    if (UNREACHABLE.test(said)) {
      return { passed: true, lines: ['Not audited: the registry does not answer audits.', said] }
    }
    return { passed: false, lines: [`The audit failed with status ${status}.`, said] }
  }
  const found = vulnerabilitiesIn(report)
  const failing = found.filter(({ severity }) => FAILING.includes(severity))
  // pnpm was asked for high and critical ones; if it saw one that isn't found here, its report has changed its form.
  const passed = failing.length === 0 && status === 0
  const lines = found.map(({ severity, name, title, url }) => `${severity}: ${name}: ${title} ${url}`.trimEnd())
  if (passed) return { passed, lines: [...lines, `Nothing of severity ${FAILING.join(' or ')} is known.`] }
  return { passed, lines: failing.length > 0 ? lines : [...lines, `pnpm ended with status ${status}:`, stdout, stderr] }
}

function parsed(text) {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !('error' in value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Advisories stand under their ids or under the packages' names, one or several each, depending on the registry. */
function vulnerabilitiesIn(report) {
  const groups = Object.entries(report.advisories ?? report)
  return groups.flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => typeof one?.severity === 'string')
      .map(({ severity, module_name: name = key, title = '', url = '' }) => ({ severity, name, title, url })),
  )
}
