import type { Check } from '../check.js'
import { shellWord } from '../shell-word.js'

/** Types that are paused: somebody may have forgotten it. */
export const pausedCheck: Check = {
  name: 'paused',
  title: 'Paused types',
  async examine({ connection }) {
    const { rows } = await connection.query(
      `select tasks.quoted(y.table_id) as name, 1000 * date_part('epoch', tasks.clock() - y.paused_at) as "pausedMs",
         y.paused_reason as reason
       from tasks.types y where y.paused_at is not null and tasks.quoted(y.table_id) is not null order by 1`,
    )
    return (rows as Array<{ name: string; pausedMs: number; reason: string | null }>).map((row) => ({
      code: 'type_paused' as const,
      severity: 'info' as const,
      subject: row.name,
      problem: `${row.name} is paused${row.reason === null ? '' : ` (${row.reason})`}: its tasks wait.`,
      remedy: `When it may go on: ${resumeOf(row.name)}`,
      details: { pausedMs: row.pausedMs, reason: row.reason, resume: resumeOf(row.name) },
    }))
  },
}

function resumeOf(name: string): string {
  return `pg-tasks resume ${shellWord(name)}`
}
