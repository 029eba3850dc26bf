import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PostgreSqlContainer } from '@testcontainers/postgresql'

/**
 * Runs a part of the tests on the PostgreSQL of a container: `npm run test:containers [-- vitest arguments]`. Without a container
 * engine it says so and passes. TEST_POSTGRES_IMAGE names another image than the official one.
 */
const root = join(import.meta.dirname, '..')
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const IMAGE = process.env.TEST_POSTGRES_IMAGE || 'postgres:18-alpine'

/** What depends most on the server's build: locale, settings, the network between. */
const PART = [
  'test/integration/sql',
  'test/integration/wakeups',
  'test/integration/listener',
  'test/integration/worker/outcomes',
]

/** What testcontainers says where there is no engine; any other error is one. */
const NO_ENGINE = /Could not find a working container runtime strategy/

const container = await start()
if (container !== undefined) {
  const given = process.argv.slice(2)
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...(given.length > 0 ? given : PART)], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_DATABASE_URL: container.getConnectionUri() },
  })
  await container.stop()
  process.exitCode = status ?? 1
}

async function start() {
  try {
    const started = await new PostgreSqlContainer(IMAGE)
      .withCommand(['postgres', '-c', 'max_connections=200', '-c', 'fsync=off'])
      .start()
    process.stdout.write(`PostgreSQL of ${IMAGE} in a container\n`)
    return started
  } catch (error) {
    if (!NO_ENGINE.test(String(error))) throw error
    process.stdout.write(`Skipped: there is no container engine (${error.message}).\n`)
    return undefined
  }
}
