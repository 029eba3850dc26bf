import { isTransient } from '@pg-tasks/client'

/** Whether an error says that the database can't be reached, or no more. 28: who may connect; 3D: which database there is. */
export function isUnreachable(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  if (typeof code === 'string') {
    if (/^(28...|3D000)$/.test(code)) return true
    // Of what is transient, an answer of the server's about a lock or a deadlock is none about the connection.
    if (/^(40|55|57014|25)/.test(code)) return false
  }
  return isTransient(error)
}
