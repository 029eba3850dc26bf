import type { Check } from '../check.js'
import { shellWord } from '../shell-word.js'

/** Counted up to here, from the index of failed tasks. */
const MOST = 10_000

interface FailedRow {
  readonly failed: number
  readonly lastAgoMs: number | null
  readonly lastError: string | null
}

/** Tasks whose executions are used up: they failed for good and wait for somebody's decision. */
export const failedTasksCheck: Check = {
  name: 'failed_tasks',
  title: 'Failed tasks',
  async examine({ connection, types }) {
    const findings = []
    for (const { schema, table, name, readable } of types) {
      if (!readable) continue
      const { rows } = await connection.query(
        `select (select count(*)::integer from (
             select from ${name} t where t.failed_at is not null and t.finished_at is null and not t.canceled limit ${MOST}) s) as failed,
           1000 * date_part('epoch', tasks.clock() - l.failed_at) as "lastAgoMs", left(l.last_error, 200) as "lastError"
         from (select) as one
         left join lateral (
           select t.failed_at, t.last_error from ${name} t where t.failed_at is not null and t.finished_at is null and not t.canceled
           order by t.failed_at desc limit 1) l on true`,
      )
      const { failed, lastAgoMs, lastError } = rows[0] as FailedRow
      if (failed === 0) continue
      const many = failed === MOST ? `${MOST} or more` : String(failed)
      const word = shellWord(name)
      const [list, reset, clean] = ['list', 'reset', 'clean'].map((verb) => `pg-tasks ${verb} ${word} --state failed`)
      findings.push({
        code: 'tasks_failed' as const,
        severity: 'warning' as const,
        subject: name,
        problem: `${many} tasks of ${name} failed for good${lastError === null ? '' : `, the last with: ${firstLine(lastError)}`}`,
        remedy: `Look at them: ${list}; run them again: ${reset}; or delete them: ${clean}`,
        details: { schema, table, failed, lastAgoMs, lastError, list, reset, clean },
      })
    }
    return findings
  },
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
