/**
 * Every code that an error of this package can carry. A code never changes its meaning; a message may.
 */
export const errorCodes = [
  'INVALID_OPTION',
  'INVALID_ARGUMENT',
  'TASK_NOT_RUNNING',
  'TASK_NOT_FOUND',
  'INVALID_SQL_ARGUMENT',
  'TYPE_NOT_REGISTERED',
  'TABLE_SHAPE',
  'CHANGED_MEANWHILE',
  'FUNCTION_NAME_TAKEN',
  'TABLE_IN_USE',
  'TASK_IN_USE',
  'TASK_KEPT_BACK',
  'MIGRATION_APPLIED',
  'MIGRATION_REFUSED',
  'DATABASE_NEWER',
  'MIGRATION_CHANGED',
  'MIGRATION_FAILED',
  'LEASE_LOST',
  'CONNECTION_LOST',
  'READ_ONLY_SERVER',
  'NOT_DELIVERING',
  'CLOSED',
  'SCHEDULE_NOT_FOUND',
  'RUN_LIMIT',
  'WORKER_STOPPING',
  'NOT_SETTLED',
  'TRANSACTION_ROLLED_BACK',
] as const

export type ErrorCode = (typeof errorCodes)[number]
