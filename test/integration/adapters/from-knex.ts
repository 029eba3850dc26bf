import type { Queryable } from '@pg-tasks/sql'
import type { Knex } from 'knex'

/** The connection of a Knex, or of its transaction, for tasks. */
export function fromKnex(knexOrTransaction: Knex): Queryable {
  const { client } = knexOrTransaction
  return {
    async query(text, values) {
      const connection = await client.acquireConnection()
      try {
        return await connection.query(text, values)
      } finally {
        await client.releaseConnection(connection)
      }
    },
  }
}
