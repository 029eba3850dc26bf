import { limitConcurrency, limitKeys, migrate, register, uniqueWhile, useGroups } from '@pg-tasks/sql'
import type { Client } from 'pg'
import { databaseUrl } from '../../support/names.js'
import { withClient } from '../../support/with-client.js'
import type { ChaosType } from '../load/task-types.js'

export const DATABASE = 'chaos'

/** Of all workers' schedules: what each occurrence enqueues is written down by the queue itself. */
const SCHEDULES = `
  select tasks.schedule('every second', 'chaos', 'tick', every => '1 s', columns => '{"ref": "every second", "kind": "effect"}', catch_up => 'all');
  select tasks.schedule('every third second', 'chaos', 'tick', cron => '*/3 * * * * *', columns => '{"ref": "cron", "kind": "return"}', catch_up => 'all');
`

/**
 * What the checker reads. Transitions are written by a trigger in the transaction that makes them, so that together they are
 * what has really happened, whoever was told of it; the identity gives their order within a row, whose lock is held.
 */
const LEDGER = `
  create table chaos.effects (
    id bigint generated always as identity primary key, what text not null, table_name text not null, task_id bigint not null,
    generation integer not null, token uuid, attempt integer, xid text not null default pg_current_xact_id()::text,
    at timestamptz not null default clock_timestamp()
  );
  create table chaos.resets (
    id bigint generated always as identity primary key, table_name text not null, task_id bigint not null,
    generation integer not null, found text not null, forgot boolean not null, xid text not null default pg_current_xact_id()::text,
    at timestamptz not null default clock_timestamp()
  );
  create table chaos.transitions (
    id bigint generated always as identity primary key, at timestamptz not null default clock_timestamp(),
    xid text not null default pg_current_xact_id()::text, table_name text not null, task_id bigint not null, ref text, kind text,
    account text, generation integer, old_state text, new_state text, old_token uuid, new_token uuid, worker uuid,
    attempt integer, planned_to timestamptz, held boolean, lost boolean not null, lease_until timestamptz,
    schedule_key text, occurrence_at timestamptz
  );
  create function chaos.coarse_state(p_started timestamptz, p_finished timestamptz, p_failed timestamptz, p_canceled boolean) returns text
  language sql immutable
  as $$
    select case when p_finished is not null then 'finished' when p_canceled then 'canceled' when p_failed is not null then 'failed'
      when p_started is not null then 'running' else 'waiting' end
  $$;
  create function chaos.note_transition() returns trigger
  language plpgsql
  as $$
  declare
    v_lost  boolean := tg_op = 'UPDATE' and new.lost_count > old.lost_count;
    v_until timestamptz;
  begin
    if v_lost then
      v_until := coalesce(old.run_until, (select l.leased_until from tasks.leases l where l.worker_id = old.run_worker and l.table_id = tg_relid::regclass));
    end if;
    insert into chaos.transitions (table_name, task_id, ref, kind, account, generation, old_state, new_state, old_token, new_token, worker,
      attempt, planned_to, held, lost, lease_until, schedule_key, occurrence_at)
    values (tg_table_name, coalesce(new.id, old.id), coalesce(new.ref, old.ref), coalesce(new.kind, old.kind), coalesce(new.account, old.account),
      coalesce(new.generation, old.generation),
      case when tg_op <> 'INSERT' then chaos.coarse_state(old.started_at, old.finished_at, old.failed_at, old.canceled) end,
      case when tg_op <> 'DELETE' then chaos.coarse_state(new.started_at, new.finished_at, new.failed_at, new.canceled) end,
      old.run_token, new.run_token, coalesce(new.run_worker, old.run_worker), coalesce(new.execution_count, old.execution_count),
      coalesce(new.planned_to, old.planned_to), coalesce(new.held, old.held), v_lost, v_until,
      coalesce(new.schedule_key, old.schedule_key), coalesce(new.occurrence_at, old.occurrence_at));
    return null;
  end
  $$;
`

const OWN_COLUMNS = `ref text, kind text not null default 'return', generation integer not null default 0,
  work_ms integer not null default 0, fails integer not null default 0, account text`

/** Makes the database of a run; with the types given, and schedules if one of them is there for it. */
export async function createChaosDatabase(serverUrl: string, types: readonly ChaosType[]): Promise<void> {
  await withProgramClient(serverUrl, (client) => client.query(`create database ${DATABASE}`))
  await withProgramClient(databaseUrl(serverUrl, DATABASE), async (client) => {
    await migrate(client)
    await client.query(`create schema chaos; ${LEDGER}`)
    for (const type of types) await createType(client, type)
    if (types.some(({ table }) => table === 'tick')) await client.query(SCHEDULES)
  })
}

async function createType(client: Client, type: ChaosType): Promise<void> {
  const { table, register: options, limit, serial, unique, callback } = type
  await client.query(`
    create table chaos.${table} (like tasks.template including defaults including identity including indexes, ${OWN_COLUMNS});
    create trigger note_transition after insert or update or delete on chaos.${table}
    for each row execute function chaos.note_transition()`)
  await register(client, 'chaos', table, options)
  if (serial) await limitKeys(client, { schema: 'chaos', table }, { columns: ['account'] })
  if (limit !== undefined) await limitConcurrency(client, { schema: 'chaos', table }, limit)
  const name = { schema: 'chaos', table, functionName: `chaos_${table}` }
  if (unique) await uniqueWhile(client, name, { columns: ['account'] })
  if (callback !== undefined) await useGroups(client, name)
}

/** As somebody whom the faults leave alone. */
export function withProgramClient<Value>(url: string, use: (client: Client) => Promise<Value>): Promise<Value> {
  return withClient(url, use, { application_name: 'chaos program' })
}
