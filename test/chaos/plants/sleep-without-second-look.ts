import { chaosType, type Plant } from './plant.js'

const QUICK = { kinds: { return: 1 }, longestWorkMs: 300, concurrency: 1, bursts: true } as const

/** A worker falls asleep although somebody who enqueued while it was awake has not committed yet. */
export const sleepWithoutSecondLook: Plant = {
  name: 'wake-up without the second look',
  foundBy: ['tasks run on time'],
  plant: async (client) => {
    await client.query(`create or replace function tasks.nothing_in_flight(p_table_id oid) returns boolean
      language sql volatile as 'select true'`)
  },
  types: ['plain', 'gone', 'narrow'].map((table) => chaosType({ ...QUICK, table })),
  load: { shortTransactions: 0, longTransactions: 0 },
  weights: {},
}
