import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The migrations live at the root of the repository; a published package carries a copy of them. */
const source = join(import.meta.dirname, '..', '..', '..', 'migrations')
const target = join(import.meta.dirname, '..', 'dist', 'migrations')

rmSync(target, { recursive: true, force: true })
cpSync(source, target, { recursive: true, filter: (path) => path === source || path.endsWith('.sql') })
