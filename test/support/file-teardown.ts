import { afterAll } from 'vitest'
import { dropAllDatabases } from './test-database.js'
import { countTries } from './tries.js'
import { killAllProcesses } from './worker-process.js'

countTries()

// Registered before the hooks of the test file, so it runs after them.
afterAll(async () => {
  await killAllProcesses()
  await dropAllDatabases()
})
