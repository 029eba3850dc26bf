import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { type Consumer, installConsumer, ROOT, runIn } from './packed.js'

const TIMEOUT_MS = 120_000
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')

const STRICT = {
  target: 'ES2022',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
}
const RESOLUTIONS = {
  NodeNext: { module: 'NodeNext', moduleResolution: 'NodeNext' },
  Bundler: { module: 'ESNext', moduleResolution: 'Bundler' },
}

describe('the packages, installed from their tarballs', () => {
  let consumer: Consumer

  beforeAll(async () => {
    consumer = await installConsumer()
  }, 4 * TIMEOUT_MS)
  afterAll(() => consumer?.remove())

  async function runsATask(program: string): Promise<void> {
    const { url } = await createDatabase({ migrations: false })
    const run = await runIn(consumer.folder, process.execPath, [program], { DATABASE_URL: url })
    expect(run).toEqual({ code: 0, output: 'Hello Ann, attempt 1\n' })
  }

  it('are packed for another project, with versions in place of what only the workspace knows', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const folder = join(consumer.folder, 'tarballs')
    const { code, output } = await runIn(ROOT, process.execPath, ['scripts/pack-packages.js', folder])
    const tarballs = output.trim().split('\n')
    expect({ code, count: tarballs.length }).toEqual({ code: 0, count: consumer.packages.length })
    for (const tarball of tarballs) {
      const manifest = await runIn(folder, 'tar', ['-xzOf', tarball, 'package/package.json'])
      expect(manifest.output).toContain('"version"')
      expect(manifest.output).not.toContain('workspace:')
    }
  })

  it.each(Object.entries(RESOLUTIONS))(
    'compile in a strict TypeScript project with %s resolution, and run a task',
    { timeout: TIMEOUT_MS },
    async (name, resolution) => {
      const outDir = `out-${name}`
      const options = { ...STRICT, ...resolution, outDir }
      writeFileSync(
        join(consumer.folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: options, include: ['main.ts'] }),
      )
      expect(await runIn(consumer.folder, process.execPath, [TSC])).toEqual({ code: 0, output: '' })
      await runsATask(join(outDir, 'main.js'))
    },
  )

  // Their declarations of diagnostics_channel have changed between major versions.
  it('compile beside newer types of Node too', { timeout: TIMEOUT_MS }, async () => {
    const words = ['install', '--no-save', '--no-audit', '--no-fund', '--prefer-offline', '--omit=optional']
    expect(await runIn(consumer.folder, 'npm', [...words, '@types/node@26'])).toMatchObject({ code: 0 })
    const options = { ...STRICT, ...RESOLUTIONS.NodeNext, noEmit: true }
    writeFileSync(
      join(consumer.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, include: ['main.ts'] }),
    )
    expect(await runIn(consumer.folder, process.execPath, [TSC])).toEqual({ code: 0, output: '' })
  })

  it('run a task in a project of plain JavaScript', { timeout: TIMEOUT_MS }, () => runsATask('main.js'))

  it('can all be imported, and their commands answer --help', { timeout: TIMEOUT_MS }, async () => {
    const names = consumer.packages.filter(({ manifest }) => manifest.exports['.'] !== undefined)
    const imports = names.map(({ manifest }) => `await import('${manifest.name}')`).join(';')
    const imported = await runIn(consumer.folder, process.execPath, ['--input-type=module', '-e', imports])
    expect(imported).toEqual({ code: 0, output: '' })
    for (const command of consumer.packages.flatMap(({ manifest }) => Object.keys(manifest.bin ?? {}))) {
      const help = await runIn(consumer.folder, join('node_modules', '.bin', command), ['--help'])
      expect(help, command).toEqual({ code: 0, output: expect.stringMatching(/^Usage: /) })
    }
  })

  it('leave out of a bundle what is not imported', { timeout: TIMEOUT_MS }, async () => {
    const whole = await bundled("export * from '@pg-tasks/client'")
    const part = await bundled("export { RetryTask } from '@pg-tasks/client'")
    expect(whole).toContain('pg-listen')
    expect(part).toContain('RetryTask')
    expect(part).not.toContain('pg-listen')
    expect(part.length).toBeLessThan(whole.length / 10)
  })

  async function bundled(source: string): Promise<string> {
    const entry = join(consumer.folder, 'entry.js')
    writeFileSync(entry, source)
    const result = await build({
      root: consumer.folder,
      configFile: false,
      logLevel: 'error',
      build: {
        write: false,
        minify: false,
        lib: { entry, formats: ['es'] },
        rolldownOptions: { external: (id) => /^(node:|pg|kysely|croner)/.test(id) },
      },
    })
    const [output] = Array.isArray(result) ? result : [result]
    if (output === undefined || !('output' in output)) throw new Error('Nothing was bundled')
    return output.output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('\n')
  }

  it('say in their READMEs what they weigh, within a quarter: npm run sizes -- --write', () => {
    for (const { folder, manifest, size } of consumer.packages) {
      const readme = readFileSync(join(folder, 'README.md'), 'utf8')
      const told = [...readme.matchAll(/([\d.]+) (kB|MB) (?:un)?packed/g)].map(
        ([, amount, unit]) => Number(amount) * (unit === 'kB' ? 1_000 : 1_000_000),
      )
      expect(told.length, `${manifest.name} tells its size`).toBe(2)
      const [packed = 0, unpacked = 0] = told
      expect(Math.abs(packed / size.packed - 1), `${manifest.name}: ${packed} of ${size.packed}`).toBeLessThan(0.25)
      expect(Math.abs(unpacked / size.unpacked - 1), `${manifest.name}: ${unpacked} of ${size.unpacked}`).toBeLessThan(
        0.25,
      )
    }
  })
})
