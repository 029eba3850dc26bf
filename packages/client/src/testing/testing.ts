export { type DrainedRun, drain } from './drain.js'
export type { DrainOptions } from './drain-options.js'
export { assertEnqueued, assertNotEnqueued, type ExpectedColumns, enqueuedTasks } from './enqueued.js'
export { type PerformOptions, perform } from './perform.js'
export { inRolledBackTransaction } from './rolled-back-transaction.js'
export {
  type TemplateDatabase,
  type TemplateDatabaseOptions,
  type TestDatabase,
  templateDatabase,
} from './template-database.js'
export { startTestClock, type TestClock, type TestClockOptions } from './test-clock.js'
