import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'

const require = createRequire(import.meta.url)

/** A Prisma client as far as the test uses it: its types are generated too. */
export interface PrismaClient {
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>
  $transaction<Value>(work: (tx: PrismaClient) => Promise<Value>): Promise<Value>
  $disconnect(): Promise<void>
}

export interface GeneratedPrisma {
  readonly PrismaClient: new (options: { readonly adapter: unknown }) => PrismaClient
  /** Removes what was generated. */
  readonly remove: () => void
}

const SCHEMA = `
generator client {
  provider   = "prisma-client-js"
  output     = "./client"
  engineType = "client"
}
datasource db {
  provider = "postgresql"
}
model orders {
  id       BigInt  @id @default(autoincrement())
  invoiced Boolean @default(false)
}
`

/**
 * Generates a client from the npm packages alone. `prisma generate` would fetch the engine of its migrations, which it doesn't
 * need; where a path is given for it, it fetches nothing.
 */
export async function generatePrisma(): Promise<GeneratedPrisma> {
  const cli = require.resolve('prisma/build/index.js')
  // Below node_modules of this repository, so that the generated code finds its runtime.
  const folder = mkdtempSync(join(import.meta.dirname, '../../../node_modules/.pg-tasks-prisma-'))
  const schema = join(folder, 'schema.prisma')
  writeFileSync(schema, SCHEMA)
  await promisify(execFile)(process.execPath, [cli, 'generate', '--schema', schema], {
    cwd: folder,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  })
  const { PrismaClient } = require(join(folder, 'client')) as Pick<GeneratedPrisma, 'PrismaClient'>
  return { PrismaClient, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
