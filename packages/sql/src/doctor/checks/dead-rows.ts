import type { Queryable } from '../../connection.js'
import { quoteLiteral } from '../../quote-literal.js'
import type { Check } from '../check.js'
import type { ResolvedDoctorOptions } from '../doctor-options.js'
import type { Finding } from '../finding.js'

/** Whoever holds the oldest snapshot: nothing that died since can be removed. */
interface Holder {
  readonly kind: 'session' | 'prepared transaction' | 'replication slot'
  readonly name: string
  readonly description: string
  /** The role; null: the server itself. */
  readonly owner: string | null
  /** What a session calls itself, and what it is doing. */
  readonly context: string | null
  /** How many transactions a slot holds back. */
  readonly transactions: number | null
  readonly ageMs: number | null
}

interface TableRow {
  readonly name: string
  readonly live: number
  readonly dead: number
  readonly vacuumedAgoMs: number | null
}

/** Dead rows per table, and who keeps vacuum from removing them. */
export const deadRowsCheck: Check = {
  name: 'dead_rows',
  title: 'Dead rows and old snapshots',
  async examine({ connection, options, types }) {
    const holder = await oldestHolder(connection)
    const tables = await tableRows(
      connection,
      types.map((type) => type.tableId),
    )
    return judge(holder, tables, options)
  },
}

function judge(holder: Holder | undefined, tables: readonly TableRow[], options: ResolvedDoctorOptions): Finding[] {
  const { snapshotAgeMs, deadRows } = options
  const old = holder !== undefined && (holder.ageMs ?? Number.POSITIVE_INFINITY) >= snapshotAgeMs ? holder : undefined
  const many = tables.filter(({ live, dead }) => dead >= deadRows && (old !== undefined || dead > live / 5))
  const findings = many.map((table): Finding => {
    const { name, dead, live, vacuumedAgoMs } = table
    const details = { dead, live, vacuumedAgoMs, ...(old === undefined ? {} : { holder: old }) }
    const severity = dead >= 100 * deadRows ? 'critical' : 'warning'
    if (old === undefined) {
      const problem = `${name} has ${dead} dead rows beside ${live} live ones: autovacuum doesn't keep up.`
      return { code: 'dead_rows', severity, subject: name, problem, remedy: `vacuum (analyze) ${name};`, details }
    }
    const problem = `${name} has ${dead} dead rows that can't be removed while ${old.description}.`
    return { code: 'dead_rows_held', severity, subject: name, problem, remedy: remedyOf(old), details }
  })
  if (old !== undefined && findings.length === 0) {
    findings.push({
      code: 'snapshot_old',
      severity: 'info',
      subject: `${old.kind} ${old.name}`,
      problem: `Dead rows can't be removed while ${old.description}; there are few yet.`,
      remedy: remedyOf(old),
      details: { holder: old },
    })
  }
  return findings
}

function remedyOf({ kind, name }: Holder): string {
  switch (kind) {
    case 'session':
      return `End its transaction, or its session: select pg_terminate_backend(${name}); a lower idle_in_transaction_session_timeout prevents it.`
    case 'prepared transaction':
      return `commit prepared ${quoteLiteral(name)}; or rollback prepared ${quoteLiteral(name)};`
    case 'replication slot':
      return `Let its consumer catch up, or drop it: select pg_drop_replication_slot('${name}');`
  }
}

async function oldestHolder(connection: Queryable): Promise<Holder | undefined> {
  // Vacuum ignores itself. A snapshot in another database holds nothing here, one of a walsender does.
  const { rows } = await connection.query(
    `select h.kind, h.name, h.description, h.owner, h.context, h.transactions, h."ageMs" from (
       select 'session' as kind, a.pid::text as name,
         format('session %s of %s (%s) has a transaction open for %s', a.pid, coalesce(a.usename, 'the server'),
           concat_ws(', ', nullif(a.application_name, ''), a.state), date_trunc('second', clock_timestamp() - a.xact_start)) as description,
         a.usename::text as owner, concat_ws(', ', nullif(a.application_name, ''), a.state) as context, null::integer as transactions,
         1000 * date_part('epoch', clock_timestamp() - a.xact_start) as "ageMs",
         greatest(age(a.backend_xmin), age(a.backend_xid)) as behind
       from pg_catalog.pg_stat_activity a
       where (a.backend_xmin is not null or a.backend_xid is not null) and a.pid <> pg_backend_pid()
         and (a.datname = current_database() or a.datname is null)
         and coalesce(a.backend_type, '') <> 'autovacuum worker' and coalesce(a.query, '') !~* '^\\s*vacuum'
       union all
       select 'prepared transaction', p.gid, format('the prepared transaction %s of %s is open since %s', p.gid, p.owner,
           date_trunc('second', clock_timestamp() - p.prepared)), p.owner::text, null, null,
         1000 * date_part('epoch', clock_timestamp() - p.prepared), age(p.transaction)
       from pg_catalog.pg_prepared_xacts p where p.database = current_database()
       union all
       select 'replication slot', s.slot_name::text, format('the replication slot %s holds %s transactions back', s.slot_name, age(s.xmin)), null, null, age(s.xmin),
         null, age(s.xmin)
       from pg_catalog.pg_replication_slots s where s.xmin is not null and not s.active
     ) h
     order by h.behind desc limit 1`,
  )
  return rows[0] as Holder | undefined
}

async function tableRows(connection: Queryable, tableIds: readonly string[]): Promise<TableRow[]> {
  const { rows } = await connection.query(
    `select format('%I.%I', s.schemaname, s.relname) as name, s.n_live_tup::double precision as live,
       s.n_dead_tup::double precision as dead,
       1000 * date_part('epoch', clock_timestamp() - greatest(s.last_vacuum, s.last_autovacuum)) as "vacuumedAgoMs"
     from pg_catalog.pg_stat_all_tables s
     where s.relid = any ($1::oid[]) or s.schemaname = 'tasks'
     order by s.n_dead_tup desc, 1`,
    [tableIds],
  )
  return rows as TableRow[]
}
