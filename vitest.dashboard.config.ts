import { defineConfig, mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** The dashboard in a real browser: needs Debian's chromium, so it is a run of its own. */
const { test, ...rest } = base
const { include: _include, exclude: _exclude, globalSetup: _globalSetup, ...shared } = test ?? {}

export default mergeConfig(
  defineConfig({ ...rest, test: shared }),
  defineConfig({
    test: {
      include: ['test/dashboard/**/*.test.ts'],
      globalSetup: ['test/support/global-setup.ts', 'test/dashboard/support/build-web.ts'],
      testTimeout: 60_000,
    },
  }),
)
