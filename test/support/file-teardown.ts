import { afterAll } from 'vitest'
import { dropAllDatabases } from './test-database.js'
import { killAllProcesses } from './worker-process.js'

// Registered before the hooks of the test file, so it runs after them.
afterAll(async () => {
  await killAllProcesses()
  await dropAllDatabases()
})
