export type { BackoffOptions } from './backoff/backoff.js'
export type { ClientConfig, ConnectionOptions } from './connection/connection-options.js'
export type { PoolClientLike, PoolLike } from './connection/queryable.js'
export {
  ClosedError,
  ConnectionLostError,
  NotDeliveringError,
  ReadOnlyServerError,
} from './errors/connection-errors.js'
export {
  ChangedMeanwhileError,
  type DatabaseErrorDetails,
  DatabaseRaisedError,
  FunctionNameError,
  InvalidSqlArgumentError,
  MigrationError,
  ScheduleNotFoundError,
  TableInUseError,
  TableShapeError,
  TaskInUseError,
  TaskKeptBackError,
  TaskNotFoundError,
  TaskNotRunningError,
  TypeNotRegisteredError,
} from './errors/database-errors.js'
export { type ErrorCode, errorCodes } from './errors/error-codes.js'
export { fromDatabaseError } from './errors/from-database-error.js'
export { InvalidArgumentError } from './errors/invalid-argument-error.js'
export { InvalidOptionError } from './errors/invalid-option-error.js'
export { isTransient } from './errors/is-transient.js'
export { LeaseLostError, type LeaseLostReason } from './errors/lease-lost-error.js'
export { PgTasksError, type PgTasksErrorDetails } from './errors/pg-tasks-error.js'
export { NotSettledError, RunLimitError, TransactionRolledBackError, WorkerStoppingError } from './errors/run-errors.js'
export type { AcquireMessage, EnqueueMessage, RunMessage, WorkerMessage } from './events/channels.js'
export { type EventListener, SafeEmitter } from './events/safe-emitter.js'
export type { ListenerState, ListenerStatus } from './listener/listener-status.js'
export type { LogFields, Logger, TaskLogger } from './logger/logger.js'
export type { Middleware, MiddlewareContext } from './middleware/middleware.js'
export type { Overlap, ScheduledColumns, ScheduleOptions } from './schedule/schedule-options.js'
export {
  backfillSchedule,
  listSchedules,
  pauseSchedule,
  previewOccurrences,
  previewSchedule,
  removeUndeclaredSchedules,
  resumeSchedule,
  schedule,
  triggerSchedule,
  unschedule,
} from './schedule/schedules.js'
export type { CatchUp, ScheduleTimingOptions } from './schedule/timing.js'
export { type BatchRun, BatchTask } from './task/batch-task.js'
export { CancelTask } from './task/cancel-task.js'
export type { Claimed, NewTask } from './task/claimed.js'
export { inTransaction } from './task/in-transaction.js'
export {
  type AnyTask,
  createGroup,
  keepHistory,
  limitConcurrency,
  limitKeys,
  limitRate,
  pauseType,
  resumeType,
  uniqueWhile,
  useGroups,
} from './task/manage-type.js'
export type { CommentOption, EnqueuedId, EnqueueTaskOptions } from './task/method-options.js'
export { RetryTask, type RetryTaskOptions } from './task/retry-task.js'
export type { Stored } from './task/stored.js'
export { Task } from './task/task.js'
export type { StepContext, TaskContext } from './task/task-context.js'
export type { TaskId, TaskOrId } from './task/task-id.js'
export type { Settle, TaskOptions } from './task/task-options.js'
export type { TypeCounts } from './worker/type/task-counter.js'
export { Worker } from './worker/worker.js'
export type { TaskReference, TypeReference, WorkerEvents } from './worker/worker-events.js'
export type { DatabaseHealth, LeaseHealth, TypeHealth, WorkerHealth } from './worker/worker-health.js'
export type { WorkerOptions } from './worker/worker-options.js'
