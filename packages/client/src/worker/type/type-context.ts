import type { TypeDescription } from '@pg-tasks/sql'
import type { SafeEmitter } from '../../events/safe-emitter.js'
import type { FailureLog } from '../../logger/failure-log.js'
import type { TaskLogger } from '../../logger/logger.js'
import type { MiddlewareChain } from '../../middleware/middleware-chain.js'
import type { ActiveRun } from '../run/active-run.js'
import type { TaskReference, TypeReference, WorkerEvents } from '../worker-events.js'
import type { ResolvedWorkerOptions } from '../worker-options.js'
import type { WorkerSession } from '../worker-session.js'

/** What the parts that look after one task type share. */
export interface TypeContext {
  readonly workerId: string
  readonly options: ResolvedWorkerOptions
  readonly events: SafeEmitter<WorkerEvents>
  readonly logger: TaskLogger
  readonly failures: FailureLog
  /** Stands around every call of a handler. */
  readonly middleware: MiddlewareChain
  /** Acquires, and holds the locks by which a worker sleeps. */
  readonly control: WorkerSession
  /** Finishes, retries, cancels, releases. */
  readonly settling: WorkerSession
  /** Renews leases; nothing that can wait for a row runs on it. */
  readonly beating: WorkerSession
  /** Makes another session of the worker's, closed with it at the latest. */
  readonly open: () => WorkerSession
  /** Whether notifications arrive. */
  readonly listening: () => boolean
}

export function typeReference(type: Pick<TypeDescription, 'schema' | 'table'>): TypeReference {
  return { schema: type.schema, table: type.table }
}

export function taskReference(type: Pick<TypeDescription, 'schema' | 'table'>, run: ActiveRun): TaskReference {
  return { schema: type.schema, table: type.table, id: run.id, attempt: run.attempt }
}
