import { configDefaults, defineConfig } from 'vitest/config'

/** Packages resolve to their source, so that a test never runs yesterday's build. */
const conditions = ['@pg-tasks/source', 'module', 'node', 'development|production']
const fromSource = { resolve: { conditions, externalConditions: conditions } }

export default defineConfig({
  // Tests are loaded in the first environment, the global setup in the second.
  environments: { ssr: fromSource, __vitest__: fromSource },
  test: {
    // Tests that need minutes run by themselves: npm run test:faults:slow
    ...(process.env.TEST_SLOW === 'yes'
      ? { include: ['test/**/*.slow.test.ts'] }
      : {
          include: ['test/**/*.test.ts', 'packages/*/src/**/*.test.ts'],
          // Those of the dashboard need a browser: npm run test:dashboard
          exclude: [...configDefaults.exclude, '**/*.slow.test.ts', 'test/dashboard/**'],
        }),
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/file-teardown.ts',
    pool: 'forks',
    testTimeout: 30_000,
    // Many tests wait for processes and servers that are killed; on a busy machine one may pass its deadline. The report names
    // what passed at a second try only.
    retry: process.env.CI === undefined ? 0 : 2,
    hookTimeout: 60_000,
    // Most tests wait for something, so one more than the two cores of the smallest machine that is served.
    maxWorkers: 3,
  },
})
