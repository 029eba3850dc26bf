import type { ClientBase } from 'pg'

/** Reported by PostgreSQL (14 and later) at connect and whenever they change; a pooler may keep them back. */
const READ_ONLY_PARAMETERS: readonly string[] = ['in_hot_standby', 'default_transaction_read_only']

interface ParameterStatus {
  readonly parameterName?: unknown
  readonly parameterValue?: unknown
}

/**
 * Watches what the server reports about itself; call it before the client connects.
 *
 * @returns whether the server is a standby or read-only by default, as far as it has said so; costs no query
 */
export function watchReadOnly(client: ClientBase): () => boolean {
  const on = new Set<unknown>()
  const { connection } = client as {
    connection?: { on?: (event: string, listener: (status: ParameterStatus) => void) => void }
  }
  connection?.on?.('parameterStatus', ({ parameterName, parameterValue }) => {
    if (!READ_ONLY_PARAMETERS.includes(String(parameterName))) return
    if (parameterValue === 'on') on.add(parameterName)
    else on.delete(parameterName)
  })
  return () => on.size > 0
}
