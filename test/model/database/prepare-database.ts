import { alterFunctions } from '../../chaos/plants/plant.js'
import { createTaskType } from '../../integration/sql/create-task-type.js'
import type { TestDatabase } from '../../support/test-database.js'
import type { Settings } from '../world/world.js'
import { instant } from './instant.js'

const COMMON = { timeoutMs: 60_000, maxRetries: 2, backoffBaseMs: 1_000, backoffMaxMs: 3_600_000 }

/** The task types of the trials, by table. */
export const TYPES = {
  kept: { ...COMMON, deletesFinished: false },
  gone: { ...COMMON, deletesFinished: true },
} as const satisfies Record<string, Settings>

export type TypeName = keyof typeof TYPES

/** Two task types, a clock that only the trial moves, a backoff without spread, and a record of what finishing did. */
export async function prepareDatabase(database: TestDatabase): Promise<void> {
  const { pool } = database
  await createTaskType(pool, 'kept', { settings: 'max_retries => 2' })
  await createTaskType(pool, 'gone', { settings: "max_retries => 2, storage_time => '0'" })
  await pool.query(
    `create schema model;
     create table model.clock (at timestamptz not null);
     insert into model.clock values ('${instant(0)}');
     create table model.effects (task bigint not null);
     create table model.undone (task bigint not null);
     create or replace function tasks.clock() returns timestamptz language sql volatile as 'select at from model.clock'`,
  )
  await alterFunctions(await database.client(), '^backoff$', 'pg_catalog.random()', '0.5')
}
