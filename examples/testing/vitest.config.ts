import { defineConfig } from 'vitest/config'

/** Here only because these tests run on the sources of this repository; yours need no `conditions`. */
const conditions = ['@pg-tasks/source', 'module', 'node', 'development|production']

export default defineConfig({
  environments: { ssr: { resolve: { conditions, externalConditions: conditions } } },
  test: { include: ['vitest.ts'], root: import.meta.dirname },
})
