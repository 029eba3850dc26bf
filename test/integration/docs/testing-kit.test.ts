import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../support/test-database.js'
import { ROOT } from './pages.js'

const FOLDER = join(ROOT, 'examples', 'testing')
const TIMEOUT_MS = 120_000

/** How each runner is started, and what it says when both tests of its example have passed. */
const RUNNERS = [
  ['node:test', ['--conditions=@pg-tasks/source', '--import', 'tsx', '--test', 'node-test.ts'], /(pass|# pass) 2\b/],
  ['vitest', [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'vitest.config.ts'], /2 passed/],
  ['jest', ['--experimental-vm-modules', join(ROOT, 'node_modules/jest/bin/jest.js'), '--no-cache'], /2 passed/],
] as const

describe('the testing kit', () => {
  let url: string

  beforeAll(async () => {
    url = (await createDatabase()).url
  })

  it.each(RUNNERS)('works with %s', { timeout: TIMEOUT_MS }, async (_name, args, passed) => {
    const { NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      cwd: FOLDER,
      env: { ...env, DATABASE_URL: url, NO_COLOR: '1' },
    })
    expect(stdout + stderr).toMatch(passed)
  })
})
