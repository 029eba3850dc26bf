import { DatabaseError } from 'pg'

/** The error with which the database refuses a query; fails if it doesn't refuse it. */
export async function refusalOf(query: Promise<unknown>): Promise<DatabaseError> {
  const error = await query.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof DatabaseError) return error
  throw error ?? new Error('The query was not refused.')
}
