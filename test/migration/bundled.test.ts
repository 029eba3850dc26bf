import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.js'
import { createDatabase } from '../support/test-database.js'

const ROOT = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)
const database = await createDatabase({ migrations: false })

/** The esbuild that tsx brings along. */
const { build } = createRequire(createRequire(import.meta.url).resolve('tsx'))('esbuild') as {
  build(options: object): Promise<unknown>
}

const PROGRAM = `
  import { migrate } from '@pg-tasks/sql'
  import { Client } from 'pg'
  const [url, folder] = process.argv.slice(2)
  const client = new Client({ connectionString: url })
  client.connect()
    .then(() => migrate(client, folder === undefined ? {} : { folder }))
    .then(({ applied }) => console.log(applied[0]), ({ code, message }) => console.log(code, message))
    .finally(() => client.end())`

it.each([
  ['cjs', 'bundle.cjs'],
  ['esm', 'bundle.mjs'],
])('a bundle (%s) says that the migrations are not in it, and takes them from a folder', async (format, file) => {
  // From there, `pg` is found.
  const folder = temporaryFolder(join(ROOT, 'node_modules'))
  await writeFile(join(folder, 'program.ts'), PROGRAM)
  await build({
    entryPoints: [join(folder, 'program.ts')],
    outfile: join(folder, file),
    bundle: true,
    platform: 'node',
    format,
    external: ['pg'],
    conditions: ['@pg-tasks/source'],
    logLevel: 'silent',
  })
  const program = async (...args: string[]) =>
    (await run(process.execPath, [join(folder, file), database.url, ...args])).stdout.trim()
  expect(await program()).toMatch(
    /^INVALID_ARGUMENT migrate: the migrations are not beside the code\. If it was bundled, .* option folder/,
  )
  const { rows } = await database.pool.query(`select to_regnamespace('tasks') is not null as there`)
  expect(await program(join(ROOT, 'migrations'))).toBe(rows[0].there ? 'undefined' : '0001_create_schema')
})
