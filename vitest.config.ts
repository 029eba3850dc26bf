import { defineConfig } from 'vitest/config'

/** Packages resolve to their source, so that a test never runs yesterday's build. */
const conditions = ['@pg-tasks/source', 'module', 'node', 'development|production']

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['test/**/*.test.ts', 'packages/*/src/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/file-teardown.ts',
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
