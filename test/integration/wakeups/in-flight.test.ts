import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { waitFor, within } from '../../support/wait-for.js'
import { createTaskType } from '../sql/create-task-type.js'
import { scalarOf } from '../sql/rows-of.js'
import { ISOLATIONS } from './lane.js'
import { ModelSleeper } from './model-sleeper.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})

/** Resolves when it is told to. */
function signal(): { readonly given: Promise<void>; give(): void } {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give: () => give() }
}

/**
 * The worst case, step by step: a transaction enqueues while a worker is awake, so it doesn't notify; the worker looks and falls
 * asleep, and only then the transaction commits. Tells whether the task is worked on.
 */
async function treacherousMeeting(table: string, isolation: string, secondLook: boolean): Promise<boolean> {
  await createTaskType(database.pool, table)
  const [begun, goOn, inFlight] = [signal(), signal(), signal()]
  const worked = new Set<string>()
  const sleeper = new ModelSleeper(await database.client(), await database.client(), table, {
    secondLook,
    handle: async (id) => {
      begun.give()
      await goOn.given
      worked.add(id)
    },
    onInFlight: inFlight.give,
  })
  const asleep = () =>
    scalarOf(
      database.pool,
      `select exists (select from pg_locks where classid = 1886415982 and objid = 'tasks.${table}'::regclass)`,
    )
  await sleeper.start()
  await waitFor(asleep)
  await database.pool.query(`insert into tasks.${table} default values`)
  await within(begun.given, { what: 'the first task to be worked on' })

  const enqueuer = await database.client()
  await enqueuer.query(`begin isolation level ${isolation}`)
  const id = await scalarOf<string>(enqueuer, `insert into tasks.${table} default values returning id::text`)
  goOn.give()
  await within(inFlight.given, { what: 'the sleeper to meet the open transaction' })
  await enqueuer.query('commit')
  const found = await waitFor(() => worked.has(id), { timeoutMs: secondLook ? 5_000 : 1_500 }).catch(() => false)
  await sleeper.stop()
  return found
}

describe('A task that was in flight when a worker fell asleep', () => {
  it.each(ISOLATIONS)('is found by the second look: %s', async (isolation) => {
    expect(await treacherousMeeting(`met_${isolation.replace(' ', '_')}`, isolation, true)).toBe(true)
  })

  it('is lost without it, which shows that this test would tell', async () => {
    // A probe that meets another's makes a needless notification, which saves the task by luck.
    let lost = false
    for (let attempt = 1; attempt <= 5 && !lost; attempt += 1) {
      lost = !(await treacherousMeeting(`missed_${attempt}`, 'read committed', false))
    }
    expect(lost).toBe(true)
  })
})
