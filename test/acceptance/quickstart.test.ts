import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { requestedMajor } from '../support/postgres-major.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { waitFor } from '../support/wait-for.js'
import { spawnScript, type WorkerProcess } from '../support/worker-process.js'

const ROOT = join(import.meta.dirname, '..', '..')
const MAIN = new URL('../../examples/quickstart/main.ts', import.meta.url)
const TIMEOUT_MS = 60_000

function quickstart(...args: readonly string[]): WorkerProcess {
  return spawnScript(MAIN, { args })
}

/** Its exit code and all that it wrote. */
async function finish(run: WorkerProcess): Promise<{ readonly code: number | null; readonly text: string }> {
  const { code } = await run.exited
  return { code, text: run.output.join('\n') }
}

/** The process numbers of its workers, once they share the work. */
async function workersOf(run: WorkerProcess): Promise<readonly number[]> {
  const line = await run.line('share the work', { timeoutMs: 30_000 })
  return [...line.matchAll(/process (\d+)/g)].map((match) => Number(match[1]))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Processes that were started for this folder: its server, and what belongs to that. */
async function processesOf(home: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid,args'])
  return stdout.split('\n').filter((line) => line.includes(home) && !line.includes('ps -eo'))
}

async function expectNothingLeft(home: string, workers: readonly number[]): Promise<void> {
  await waitFor(() => !workers.some(isAlive), { what: 'the end of the workers' })
  expect(await processesOf(home)).toEqual([])
  expect(existsSync(home)).toBe(false)
}

/** A home and a folder with some files, the odd ones too. */
function someFiles(): { readonly home: string; readonly folder: string; readonly files: Record<string, string> } {
  const parent = temporaryFolder()
  const files: Record<string, string> = {
    empty: '',
    [join('deep', 'er', 'it\'s a "file" of Zoë\'s.txt')]: 'short',
    'large.txt': 'x'.repeat(3_000_000),
  }
  for (let number = 0; number < 20; number += 1) files[`file ${number}`] = `content ${number}`.repeat(number)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(parent, 'files', path, '..'), { recursive: true })
    writeFileSync(join(parent, 'files', path), content)
  }
  return { home: join(parent, 'home'), folder: join(parent, 'files'), files }
}

// It brings a PostgreSQL of its own, so once is enough.
describe.skipIf(requestedMajor() !== 18)('npm run quickstart', () => {
  it('copies the files of this repository, each recorded once, though a worker is killed', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const home = join(temporaryFolder(), 'home')
    const run = quickstart('--in', home)
    const workers = await workersOf(run)
    const { code, text } = await finish(run)

    expect(text).toMatch(/^100 % {2}(\d+) of \1$/m)
    expect(text).toMatch(/worker [12] was killed \(SIGKILL\) while it held \d+ tasks?; its lease lasts 2 s\./)
    expect(text).toMatch(/Its lease has ended: worker [12] brings \d+ tasks? back\./)
    expect(text).toMatch(/finished +1 +\d+\nfinished +2 +\d+\n/)
    expect(text).toMatch(/worker [12] \(killed\) +\d+/)
    expect(text).toContain('Each copy unpacks to its original, by size and SHA-256.')
    const [, files, twice, killed] =
      /Every one of the (\d+) files was recorded once; (\d+) (?:was|were) attempted twice, because (worker [12]) was killed/.exec(
        text,
      ) ?? []
    expect(Number(files)).toBeGreaterThan(100)
    expect(text).toContain(`${killed} was killed (SIGKILL) while it held ${twice} task`)
    expect(text).not.toContain('\u001b')
    expect(code).toBe(0)
    await expectNothingLeft(home, workers)
  })

  it('leaves server and copies with --keep, answers --query, and removes all with --stop', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { home, folder, files } = someFiles()
    const kept = await finish(quickstart(folder, '--in', home, '--keep'))
    expect(kept.text).toContain(`Every one of the ${Object.keys(files).length} files was recorded once`)
    expect(kept.text).toContain('psql -h 127.0.0.1')
    expect(kept.code).toBe(0)
    for (const [path, content] of Object.entries(files)) {
      expect(gunzipSync(readFileSync(join(home, 'copies', `${path}.gz`))).toString()).toBe(content)
    }

    const attempts = "select path, execution_count from tasks.compress_file where path = 'empty'"
    const asked = await finish(quickstart('--in', home, '--query', attempts))
    expect(asked.text).toMatch(/path +execution_count\n─+ +─+\nempty +[12]$/)
    const refused = await finish(quickstart('--in', home, '--query', 'select nonsense'))
    expect(refused.text).toMatch(/^The query failed: column "nonsense" does not exist/)
    expect(refused.code).toBe(1)
    expect(await processesOf(home)).not.toEqual([])

    const stopped = await finish(quickstart('--in', home, '--stop'))
    expect(stopped).toEqual({ code: 0, text: `The server is stopped, and what was in ${home} removed.` })
    await expectNothingLeft(home, [])
  })

  it('kills a worker that is at work even if there is but one file, and an empty one', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const parent = temporaryFolder()
    mkdirSync(join(parent, 'files'))
    writeFileSync(join(parent, 'files', 'one'), '')
    const { code, text } = await finish(quickstart(join(parent, 'files'), '--in', join(parent, 'home')))
    expect(text).toMatch(
      /The one file was recorded once; 1 was attempted twice, because worker [12] was killed while it held it\./,
    )
    expect(code).toBe(0)
  })

  it('says which file could not be copied, and why; and asks the new database', { timeout: TIMEOUT_MS }, async () => {
    const { home, folder } = someFiles()
    // With .gz behind it, no file can be called this.
    const name = 'n'.repeat(254)
    writeFileSync(join(folder, name), 'content')
    const query = 'select count(*), count(distinct path) from public.copies'
    const { code, text } = await finish(quickstart(folder, '--in', home, '--query', query))
    expect(text).toMatch(new RegExp(`Wrong: ${name}: not recorded: .*ENAMETOOLONG`))
    expect(text).toMatch(/failed +4 +1\n/)
    expect(text).not.toContain('was recorded once')
    expect(text).toMatch(/count +count\n─+ +─+\n +23 +23\n/)
    expect(code).toBe(1)
    await expectNothingLeft(home, [])
  })

  it('ends its workers and its server at Ctrl-C', { timeout: TIMEOUT_MS }, async () => {
    const { home, folder } = someFiles()
    const run = quickstart(folder, '--in', home)
    const workers = await workersOf(run)
    run.signal('SIGINT')
    const { code, text } = await finish(run)
    expect(text).toContain('Interrupted; everything is removed.')
    expect(code).toBe(130)
    await expectNothingLeft(home, workers)
  })

  it('tells of a worker that ends by itself, and leaves nothing', { timeout: TIMEOUT_MS }, async () => {
    const { home, folder } = someFiles()
    const run = quickstart(folder, '--in', home)
    const workers = await workersOf(run)
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    const { code, text } = await finish(run)
    expect(text).toMatch(/worker [12] ended by itself/)
    expect(code).toBe(1)
    await expectNothingLeft(home, workers)
  })

  it('takes over what a run has left that was killed itself', { timeout: TIMEOUT_MS }, async () => {
    const { home, folder } = someFiles()
    const first = quickstart(folder, '--in', home)
    const workers = await workersOf(first)
    await first.kill('SIGKILL')
    await waitFor(() => !workers.some(isAlive), { timeoutMs: 10_000, what: 'the end of the workers without a parent' })
    expect(await processesOf(home)).not.toEqual([])

    const { code, text } = await finish(quickstart(folder, '--in', home))
    expect(text).toContain('Every one of the 23 files was recorded once')
    expect(code).toBe(0)
    await expectNothingLeft(home, [])
  })

  it('leaves another run in the same place alone', { timeout: TIMEOUT_MS }, async () => {
    const { home, folder } = someFiles()
    const first = quickstart(folder, '--in', home)
    await workersOf(first)
    // Stopped in its tracks, it surely is there for as long as the others need.
    first.signal('SIGSTOP')
    const runs = [quickstart(folder, '--in', home), quickstart('--in', home, '--stop')]
    for (const { code, text } of await Promise.all(runs.map(finish))) {
      expect(text).toContain(`Another quickstart runs in ${home}: wait for it, or give another folder with --in.`)
      expect(code).toBe(1)
    }
    first.signal('SIGCONT')
    expect((await finish(first)).code).toBe(0)
    await expectNothingLeft(home, [])
  })

  it('explains mistakes in one line', { timeout: TIMEOUT_MS }, async () => {
    const empty = temporaryFolder()
    mkdirSync(join(empty, '.git'))
    writeFileSync(join(empty, '.git', 'config'), '')
    const file = join(ROOT, 'package.json')
    const mistakes: ReadonlyArray<readonly [readonly string[], string]> = [
      [['/nowhere/at/all'], 'There is no folder /nowhere/at/all.'],
      [[file], `${file} is a file; give the folder it is in.`],
      [[empty], `There are no files in ${empty}.`],
      [['a', 'b'], 'Give one folder, not 2: a, b'],
      [['--kep'], "Unknown option '--kep'."],
    ]
    await Promise.all(
      mistakes.map(async ([args, message]) => {
        const { code, text } = await finish(quickstart(...args))
        expect(text).toBe(`${message}\nnpm run quickstart -- --help tells what there is.`)
        expect(code).toBe(1)
      }),
    )
  })

  it('keeps what it makes by default where git does not look', () => {
    const ignored = execFileSync('git', ['check-ignore', '.data/quickstart'], { cwd: ROOT, encoding: 'utf8' })
    expect(ignored.trim()).toBe('.data/quickstart')
    expect(spawnedByNpm()).toContain('examples/quickstart/main.ts')
  })
})

function spawnedByNpm(): string {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  return scripts.quickstart ?? ''
}
