import type { Attributes } from '@opentelemetry/api'
import { isInstance } from '../../errors/is-instance.js'

/** Name of our tracer and meter. */
export const SCOPE = '@pg-tasks/client'

type OperationType = 'send' | 'receive' | 'process'

/** Our verbs, as the conventions call what they do. */
const OPERATION_TYPES = { enqueue: 'send', acquire: 'receive', run: 'process' } satisfies Record<string, OperationType>

export type Operation = keyof typeof OPERATION_TYPES

/**
 * Attributes of an operation on a task type, by the semantic conventions for messaging
 * (https://opentelemetry.io/docs/specs/semconv/messaging/).
 */
export function attributesOf(
  operation: Operation,
  type: { readonly schema: string; readonly table: string },
): Attributes {
  return {
    'messaging.system': 'pg_tasks',
    'messaging.operation.name': operation,
    'messaging.operation.type': OPERATION_TYPES[operation],
    'messaging.destination.name': destinationOf(type),
  }
}

export function destinationOf({ schema, table }: { readonly schema: string; readonly table: string }): string {
  return `${schema}.${table}`
}

/** `error.type`: the class of an error, of which there are few. */
export function errorType(error: unknown): string {
  if (!isInstance(error, Error)) return '_OTHER'
  return error.constructor.name === 'Error' || error.constructor.name === '' ? error.name : error.constructor.name
}
