import { join } from 'node:path'
import { build } from 'vite'

/** The pages as they are published, built from today's sources once per run. */
export default async function setup(): Promise<void> {
  await build({
    configFile: join(import.meta.dirname, '..', '..', '..', 'packages', 'dashboard', 'web', 'vite.config.ts'),
    logLevel: 'warn',
    // Names carry a digest, so what is there may stay: another run may be reading it.
    build: { emptyOutDir: false },
  })
}
