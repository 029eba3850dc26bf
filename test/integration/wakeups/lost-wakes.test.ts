import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { type Enqueuing, ISOLATIONS, Lane } from './lane.js'

/** Sleepers of each lane. With a second one, somebody nearly always sleeps and is told; alone, one has to look right. */
const LANES = [1, 1, 1, 2] as const
const ATTEMPTS_PER_LANE = 90
/** Far above what a wake takes; nothing polls, so a lost one never comes. */
const DEADLINE_MS = 4_000

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})

/** Some transactions, now and then a long one, all about the time in which the sleepers fall asleep again. */
function randomPlan(): Enqueuing[] {
  return Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => ({
    beginAfter: Math.random() * 30,
    insertAfter: Math.random() < 0.5 ? 0 : Math.random() * 30,
    commitAfter: Math.random() < 0.4 ? 0 : Math.random() * (Math.random() < 0.3 ? 250 : 50),
    isolation: ISOLATIONS[Math.floor(Math.random() * ISOLATIONS.length)] ?? 'read committed',
    dueAfter: Math.random() < 0.8 ? 0 : Math.random() * 200,
  }))
}

/** A first task keeps a sleeper busy; a second is inserted meanwhile and committed when the sleeper has looked. */
function treacherousPlan(): Enqueuing[] {
  const common = { isolation: 'read committed', dueAfter: 0 } as const
  return [
    { ...common, beginAfter: 0, insertAfter: 0, commitAfter: 0 },
    { ...common, beginAfter: 0, insertAfter: 5 + Math.random() * 20, commitAfter: 40 + Math.random() * 40 },
  ]
}

describe('Sleepers without a poll', () => {
  it('lose no task, however enqueuing and falling asleep meet', { timeout: 120_000 }, async () => {
    const lanes = await Promise.all(LANES.map((sleepers, index) => Lane.open(database, `lane_${index}`, sleepers)))
    const lost: string[] = []
    await Promise.all(
      lanes.map(async (lane) => {
        for (let attempt = 0; attempt < ATTEMPTS_PER_LANE && lost.length < 3; attempt += 1) {
          const plan = attempt % 3 === 0 ? treacherousPlan() : randomPlan()
          if (!(await lane.attempt(plan, DEADLINE_MS))) lost.push(JSON.stringify(plan))
        }
      }),
    )
    expect(lost).toEqual([])
    await Promise.all(lanes.map((lane) => lane.close()))
  })
})
