import type { Check } from '../check.js'
import { inWords } from '../in-words.js'

interface LeaseRow {
  readonly tasks: number
  readonly overMs: number
}

/** Running tasks whose lease is over and that nobody took: no worker of the type is alive to bring them back. */
export const leasesCheck: Check = {
  name: 'leases',
  title: 'Expired leases',
  async examine({ connection, types }) {
    const findings = []
    for (const { tableId, name, timeoutMs, readable } of types) {
      if (timeoutMs === null || !readable) continue
      // Living workers look every quarter of a lease: what is over for less than that is not late yet.
      const { rows } = await connection.query(
        `select count(*)::double precision as tasks, 1000 * date_part('epoch', tasks.clock() - min(l.over_at)) as "overMs"
         from ${name} t
         cross join lateral (
           select case when t.run_worker is null then t.run_until else coalesce(
             (select s.leased_until from tasks.leases s where s.worker_id = t.run_worker and s.table_id = $1::oid),
             t.started_at) end as over_at
         ) l
         where t.started_at is not null and t.finished_at is null and t.failed_at is null and not t.canceled
           and l.over_at < tasks.clock() - make_interval(secs => $2::double precision / 4000)`,
        [tableId, timeoutMs],
      )
      const { tasks, overMs } = rows[0] as LeaseRow
      if (tasks === 0) continue
      const statement = `select tasks.${functionOf('rescue', types, tableId)}();`
      findings.push({
        code: 'leases_expired' as const,
        severity: 'warning' as const,
        subject: name,
        problem: `${tasks} running tasks of ${name} have lost their worker, the first ${inWords(overMs)} ago.`,
        remedy: `Start a worker of this type: it brings them back. Or by hand: ${statement}`,
        details: { tasks, overMs, statement },
      })
    }
    return findings
  },
}

function functionOf(verb: string, types: ReadonlyArray<{ tableId: string; functionName: string }>, tableId: string) {
  return `"${verb}_${types.find((type) => type.tableId === tableId)?.functionName ?? ''}"`
}
