import { alterFunctions, chaosType, type Plant } from './plant.js'

/** Unique tasks are neither found in an index nor by who comes back. */
export const uniqueIsNotKept: Plant = {
  name: 'unique tasks are not kept unique',
  foundBy: ['unique holds'],
  plant: async (client) => {
    await alterFunctions(
      client,
      '^enqueue$',
      /p_on_conflict is not null (?=then pg_catalog.format\('on conflict|and v_rule.columns is null)/g,
      'false ',
    )
    const { rows } = await client.query<{ name: string }>('select index_name as name from tasks.unique_rules')
    for (const { name } of rows) await client.query(`drop index chaos."${name}"`)
  },
  types: [chaosType({ table: 'lone', kinds: { return: 1 }, longestWorkMs: 500, unique: true })],
  weights: {},
}
