export type { ColumnType } from 'kysely'
export {
  type Connection,
  type KyselyLike,
  type Queryable,
  type QueryResult,
  toQueryable,
} from './connection.js'
export { ACTION_STATES, type ActedOn, actOnTasks, type TaskAction } from './dashboard/act-on-tasks.js'
export { type AuditEntry, listAudit, type WrittenAuditEntry, writeAudit } from './dashboard/audit.js'
export {
  type BrowsedTask,
  type BrowseTasksOptions,
  browseTasks,
  MASKED,
  type TaskPage,
} from './dashboard/browse-tasks.js'
export { type Count, countTasks, type TaskCounts } from './dashboard/count-tasks.js'
export { editTask, runNow } from './dashboard/edit-task.js'
export { type Buckets, type EndedBucket, type EndedBuckets, endedBuckets } from './dashboard/ended-buckets.js'
export { insertExample } from './dashboard/insert-example.js'
export { type HandledOccurrence, listOccurrences } from './dashboard/list-occurrences.js'
export {
  countRunning,
  listLeases,
  listWorkerSessions,
  type WorkerLease,
  type WorkerSessionInfo,
} from './dashboard/list-workers.js'
export { listenToTasks, TASK_CHANNELS } from './dashboard/listen-to-tasks.js'
export { readClock } from './dashboard/read-clock.js'
export {
  type ReadTaskOptions,
  readTask,
  type TaskAttempt,
  type TaskDetails,
  type TaskMark,
} from './dashboard/read-task.js'
export { type SelectedIds, selectIds } from './dashboard/select-ids.js'
export { TASK_STATES } from './dashboard/state-conditions.js'
export { type ColumnFamily, type TaskColumn, taskColumns } from './dashboard/task-columns.js'
export { type Durations, durationBuckets, newestDurations } from './dashboard/task-durations.js'
export { FILTER_OPERATORS, type FilterOperator, type TaskFilter } from './dashboard/task-filter.js'
export type { TaskSelectionOptions } from './dashboard/task-selection.js'
export type { TaskCursor, TaskOrder } from './dashboard/task-walk.js'
export { type ActOptions, actBriefly, type LookOptions, lookOnly } from './dashboard/transactions.js'
export { type TypeOverview, typeOverviews } from './dashboard/type-overviews.js'
export { diagnose } from './doctor/diagnose.js'
export type { DoctorOptions, ExpectedColumns } from './doctor/doctor-options.js'
export { type CheckResult, type Finding, SEVERITIES, type Severity, worst } from './doctor/finding.js'
export { FINDING_CODES, type FindingCode } from './doctor/finding-code.js'
export { type MissingColumns, missingColumns } from './doctor/missing-columns.js'
export { type NotifiedSession, probeListening } from './doctor/probe-listening.js'
export { probePooler } from './doctor/probe-pooler.js'
export { type CopiedTable, copyIn, copyOut, emptyTable } from './dump/copied-tables.js'
export { type DumpPlan, dumpPlan } from './dump/dump-plan.js'
export { inOneSnapshot } from './dump/in-one-snapshot.js'
export { OWN_TABLES } from './dump/own-tables.js'
export { PgTasksSqlError, SQL_ERROR_CODES, type SqlErrorCode } from './errors.js'
export { inShortTransaction } from './in-short-transaction.js'
export { hasTable } from './inspect/has-table.js'
export { type ListedTask, type ListTasksOptions, listTasks } from './inspect/list-tasks.js'
export { listTypes, type RegisteredType } from './inspect/list-types.js'
export { type ColumnDescription, ownColumns } from './inspect/own-columns.js'
export { chosenIds, countChosen, type TaskChoice } from './inspect/task-choice.js'
export { type MarkedStep, type PastAttempt, type TaskHistory, taskHistory } from './inspect/task-history.js'
export { type TypeStats, typeStats } from './inspect/type-stats.js'
export type { AppliedMigration } from './migrate/applied-migrations.js'
export { type MigrateResult, migrate } from './migrate/migrate.js'
export type { MigrateOptions } from './migrate/migrate-options.js'
export { MigrationError } from './migrate/migration-error.js'
export { type MigrationStatus, migrationStatus } from './migrate/migration-status.js'
export { toPreparedQueryable } from './prepared-queryable.js'
export { quoteIdentifier } from './quote-identifier.js'
export { type DueSchedule, dueSchedules, staleSchedules } from './schedules/due-schedules.js'
export {
  type FiringOutcome,
  type FiringResult,
  fireSchedules,
  planSchedules,
  type ScheduleFiring,
  type SchedulePlan,
} from './schedules/fire-schedules.js'
export {
  backfillSchedule,
  listSchedules,
  pauseSchedule,
  removeUndeclaredSchedules,
  resumeSchedule,
  type StoredSchedule,
  triggerSchedule,
  unschedule,
} from './schedules/manage-schedules.js'
export { nextScheduleIn } from './schedules/next-schedule-in.js'
export type { ScheduleRow } from './schedules/schedule-row.js'
export { type NewSchedule, type ScheduleState, upsertSchedule } from './schedules/upsert-schedule.js'
export { type AcquireOptions, acquire } from './statements/acquire.js'
export { closeBatch, openBatch, suspectBatches } from './statements/batches.js'
export { type CancelOptions, cancel } from './statements/cancel.js'
export { type CleanOptions, clean, type FinalState } from './statements/clean.js'
export { closeLease } from './statements/close-lease.js'
export { committedTransactions } from './statements/committed-transactions.js'
export {
  type FailedTask,
  type FailedTasksOptions,
  failedTasks,
  type ResetFailedOptions,
  resetFailed,
  setOnFailure,
} from './statements/dead-letters.js'
export { deleteEnded } from './statements/delete-ended.js'
export { describeType, describeTypeOfTable, type TypeDescription } from './statements/describe-type.js'
export { type ColumnValues, type EnqueueOptions, enqueueMany } from './statements/enqueue.js'
export { copyFromCsv, enqueueText } from './statements/enqueue-text.js'
export { type FinishOptions, finish } from './statements/finish.js'
export { type FinishedAndAcquired, finishAndAcquire } from './statements/finish-and-acquire.js'
export { finishMany, type Run, type UnfinishedOutcome, type UnfinishedRun } from './statements/finish-many.js'
export { createGroup, keepHistory, type NewGroup, useGroups } from './statements/groups.js'
export { type GoneReason, type HeartbeatResult, heartbeat } from './statements/heartbeat.js'
export { heldRuns } from './statements/held-runs.js'
export { limitIdleTransaction } from './statements/limit-idle-transaction.js'
export {
  type KeyLimit,
  limitConcurrency,
  limitKeys,
  limitRate,
  pauseType,
  type RateLimit,
  resumeType,
} from './statements/limits.js'
export { type Maintained, maintain } from './statements/maintain.js'
export { type NextDue, nextDue } from './statements/next-due.js'
export { prepareCommand } from './statements/prepare-command.js'
export { prepareSession } from './statements/prepare-session.js'
export { refreshType } from './statements/refresh-type.js'
export { type RegisterOptions, register } from './statements/register.js'
export { release, releaseFree } from './statements/release.js'
export { rescue } from './statements/rescue.js'
export { type ResetOptions, reset } from './statements/reset.js'
export { type Retried, type RetryOptions, retry } from './statements/retry.js'
export { fallAsleep, nothingInFlight, stayAwake, stopAwake, wakeUp } from './statements/sleep-locks.js'
export { beginStep, markStep, type StepLock, type StepStart } from './statements/steps.js'
export {
  type EnqueueOutcome,
  enqueueUnique,
  type OnConflict,
  type UniqueRule,
  uniqueWhile,
} from './statements/unique.js'
export { unregister } from './statements/unregister.js'
export {
  type LeasesTable,
  type StatsView,
  type TasksDatabase,
  type TaskTable,
  type TypesTable,
  tableColumns,
} from './tables.js'
export type { TaskTypeName } from './task-type-name.js'
export type { FailureReason, TaskState, TemplateRow } from './template-row.js'
export {
  createDatabaseFrom,
  databaseExists,
  dropDatabase,
  lockName,
  renameDatabase,
  unlockName,
} from './testing/databases.js'
export { installTestClock, moveTestClock, readTestClock, removeTestClock } from './testing/test-clock.js'
