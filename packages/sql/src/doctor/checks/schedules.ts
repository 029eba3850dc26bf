import type { Check } from '../check.js'
import type { Finding } from '../finding.js'
import { inWords } from '../in-words.js'
import { shellWord } from '../shell-word.js'

/** A scheduler looks at once; later than this, none runs. */
const LATE_MS = 60_000

interface ScheduleRow {
  readonly key: string
  readonly error: string | null
  readonly paused: boolean
  readonly lateMs: number | null
}

/** Schedules that were set aside because of an error, and due ones that no worker looks at. */
export const schedulesCheck: Check = {
  name: 'schedules',
  title: 'Schedules',
  async examine({ connection }) {
    const { rows } = await connection.query(
      `select s.key, s.last_error as error, s.paused_at is not null as paused,
         1000 * date_part('epoch', tasks.clock() - case when s.planned then s.next_at else s.plan_after end) as "lateMs"
       from tasks.schedules s
       where (s.last_error is not null or s.paused_at is null) and tasks.quoted(s.table_id) is not null
       order by s.key`,
    )
    return (rows as ScheduleRow[]).flatMap(findingsOf)
  },
}

function findingsOf({ key, error, paused, lateMs }: ScheduleRow): Finding[] {
  if (error !== null) {
    const resume = `pg-tasks schedules resume ${shellWord(key)}`
    return [
      {
        code: paused ? 'schedule_set_aside' : 'schedule_error',
        severity: 'warning',
        subject: key,
        problem: `The schedule ${key} ${paused ? 'was set aside' : 'had an error'}: ${error}`,
        remedy: `Mend what it names, then: ${resume}`,
        details: { error, paused, resume },
      },
    ]
  }
  if (lateMs === null || lateMs < LATE_MS) return []
  return [
    {
      code: 'schedule_late',
      severity: 'warning',
      subject: key,
      problem: `The schedule ${key} is due for ${inWords(lateMs)}, and no worker looks at it.`,
      remedy: 'Start a worker; any one runs the scheduler.',
      details: { lateMs },
    },
  ]
}
