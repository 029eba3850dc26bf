import type { Call } from '../world/call.js'
import { instant } from './instant.js'

/** A call as a statement. */
export interface Question {
  readonly text: string
  readonly values: readonly unknown[]
}

/** What a statement needs besides the call. */
export interface Naming {
  /** The table, which stands in the schema tasks. */
  readonly table: string
  readonly tokenOf: (run: number) => string
  readonly taskOf: (run: number) => number
}

/** The answer is the column `answer` of the only row; acquire's are the ids of all rows, with their tokens. */
export function questionOf(call: Call, { table, tokenOf, taskOf }: Naming): Question {
  const verb = (name: string) => `tasks.${name}_tasks_${table}`
  const token = (run: number | null) => (run === null ? null : tokenOf(run))
  const oid = `'tasks.${table}'::regclass::oid`
  const arrays = (runs: readonly number[]) => [runs.map(taskOf), runs.map(tokenOf)]
  switch (call.verb) {
    case 'begin':
    case 'commit':
    case 'rollback':
      return { text: call.verb, values: [] }
    case 'cut':
      throw new Error('A cut is not a statement.')
    case 'insert':
      return {
        text: `insert into tasks.${table} (id, priority, planned_to) values ($1, $2, $3)`,
        values: [call.task, call.priority, instant(call.plannedTo)],
      }
    case 'acquire':
      return {
        text: `select id::int as answer, run_token as token from ${verb('acquire')}($1, $2, $3)`,
        values: [call.max, call.worker === null ? null : workerId(call.worker), call.slotsEmpty],
      }
    case 'rescue':
      return { text: `select ${verb('rescue')}()::int as answer`, values: [] }
    case 'heartbeat':
      return {
        text: `select jsonb_build_object(
            'gone', array(select g.id || ' ' || g.reason from rows from (unnest(h.gone_ids), unnest(h.gone_reasons)) as g (id, reason)
              order by (g.id || ' ' || g.reason) collate "C"),
            'rescueDue', h.rescue_due, 'suspectDue', h.suspect_due,
            'strays', array(select s.id from unnest(h.stray_ids) s (id) order by s.id)) as answer
          from ${verb('heartbeat')}($1, $2, $3, $4) h`,
        values: [workerId(call.worker), ...arrays(call.runs), call.findStrays],
      }
    case 'closeLease':
      return { text: `select tasks.close_lease($1, ${oid}) as answer`, values: [workerId(call.worker)] }
    case 'finish':
      return {
        text: `with finished as materialized (select ${verb('finish')}($1, run_token => $2) as answer),
            effect as (insert into model.effects (task) select $1 from finished)
          select answer from finished`,
        values: [call.task, token(call.run)],
      }
    case 'finishMany':
      return {
        text: `with others as materialized (select * from ${verb('finish_many')}($1, $2)),
            effects as (insert into model.effects (task) select i.id from unnest($1::bigint[]) i (id) where i.id not in (select task_id from others))
          select coalesce(jsonb_agg(jsonb_build_array(task_id, outcome) order by task_id), '[]') as answer from others`,
        values: arrays(call.runs),
      }
    case 'retry':
      return {
        text: `select ${verb('retry')}($1, planned_to => $2, run_token => $3, delay => $4 * interval '1 ms') as answer`,
        values: [
          call.task,
          call.plannedTo === undefined ? null : instant(call.plannedTo),
          token(call.run),
          call.delayMs ?? null,
        ],
      }
    case 'release':
      return { text: `select ${verb('release')}($1, $2) as answer`, values: [call.task, token(call.run)] }
    case 'cancel':
      return {
        text: `select ${verb('cancel')}($1, run_token => $2) as answer`,
        values: [call.task, token(call.run)],
      }
    case 'reset':
      return {
        text: `with reset as materialized (select ${verb('reset')}($1) as answer),
            undone as (insert into model.undone (task) select $1 from reset where answer = 'finished')
          select answer from reset`,
        values: [call.task],
      }
    case 'clean':
      return {
        text: `select ${verb('clean_before')}($1, $2)::int as answer`,
        values: [instant(call.endedBefore), call.states],
      }
    case 'nextDue':
      return {
        text: `select jsonb_build_object('readyIn', round(d.ready_in), 'rescueIn', round(d.rescue_in), 'laterIn', round(d.later_in)) as answer
          from ${verb('next_due')}($1, $2) d`,
        values: [call.worker === null ? null : workerId(call.worker), call.slotsEmpty],
      }
    case 'fallAsleep':
      return { text: `select null as answer from tasks.fall_asleep(${oid})`, values: [] }
    case 'wakeUp':
      return { text: `select tasks.wake_up(${oid}) as answer`, values: [] }
    case 'stayAwake':
      return { text: `select tasks.stay_awake(${oid}) as answer`, values: [] }
    case 'stopAwake':
      return { text: `select tasks.stop_awake(${oid}) as answer`, values: [] }
    case 'nothingInFlight':
      return { text: `select tasks.nothing_in_flight(${oid}) as answer`, values: [] }
  }
}

function workerId(worker: number): string {
  return `00000000-0000-4000-8000-${String(worker).padStart(12, '0')}`
}
