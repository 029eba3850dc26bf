import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { migrate } from '@pg-tasks/sql'
import { Pool } from 'pg'
import { CompressFile, type Folders } from './compress-file.js'
import type { Home } from './home.js'
import type { Progress } from './progress.js'
import { conclusion, type Killed, report } from './report.js'
import { verify } from './verify.js'
import { WorkerProcess } from './worker-process.js'

const WORKERS = ['worker 1', 'worker 2']

/** How often the database is asked how far the work is, in milliseconds. */
const LOOK_MS = 50

/** One run of the quickstart, from an empty database to the verified copies. */
export class Run {
  readonly #home: Home
  readonly #folders: Folders
  readonly #files: readonly string[]
  readonly #progress: Progress
  readonly #signal: AbortSignal
  readonly #pool: Pool
  readonly #workers: WorkerProcess[] = []
  #crash: Error | undefined

  constructor(home: Home, source: string, files: readonly string[], progress: Progress, signal: AbortSignal) {
    this.#home = home
    this.#folders = home.folders(source)
    this.#files = files
    this.#progress = progress
    this.#signal = signal
    this.#pool = new Pool({ connectionString: home.connectionString, application_name: 'quickstart' })
    this.#pool.on('error', () => {})
  }

  /** @returns what is wrong with the copies; nothing, if all went well */
  async work(): Promise<readonly string[]> {
    await migrate(this.#pool)
    await this.#pool.query(await readFile(join(import.meta.dirname, 'setup.sql'), 'utf8'))

    await Promise.all(WORKERS.map((name) => this.#startWorker(name)))
    const pids = this.#workers.map(({ name, pid }) => `${name} (process ${pid})`).join(' and ')
    this.#progress.say(`${count(this.#files.length, 'file')}, one task each. ${pids} share the work.`)

    const quarter = Math.min(Math.ceil(this.#files.length / 4), this.#files.length - 1)
    await this.#enqueue(this.#files.slice(0, quarter))
    await this.#until((ended) => ended === quarter)
    const killed = await this.#killOneAtWork(this.#files.slice(quarter))
    await this.#until((ended) => ended === this.#files.length)
    this.#progress.end()
    await this.#stopWorkers()

    const problems = await verify(this.#pool, this.#files, this.#folders)
    this.#progress.say(`\n${await report(this.#pool, killed)}\n`)
    if (problems.length === 0) {
      this.#progress.say('Each copy unpacks to its original, by size and SHA-256.')
      this.#progress.say(await conclusion(this.#pool, killed))
    }
    return problems
  }

  /** Leaves no process and no connection behind, however the work ended. */
  async close(): Promise<void> {
    this.#progress.end()
    await this.#stopWorkers()
    await this.#pool.end()
  }

  async #startWorker(name: string): Promise<void> {
    const { connectionString } = this.#home
    let fail: (error: Error) => void = () => {}
    const crashed = new Promise<never>((_, reject) => {
      fail = reject
    })
    crashed.catch(() => {})
    const worker = new WorkerProcess({ name, connectionString, folders: this.#folders }, (error) => {
      this.#crash = error
      fail(error)
    })
    worker.onRescued = (rescued) =>
      this.#progress.say(`Its lease has ended: ${name} brings ${count(rescued, 'task')} back.`)
    this.#workers.push(worker)
    await Promise.race([worker.ready(), crashed])
  }

  async #enqueue(files: readonly string[]): Promise<void> {
    const compressFile = new CompressFile(this.#pool, this.#folders, 'nobody')
    await compressFile.enqueueMany(
      this.#pool,
      files.map((path) => ({ path })),
    )
  }

  /**
   * Kills a worker in the midst of its tasks. So that it surely is: while this transaction locks the table of records, every
   * worker gets as far as its own transaction and waits there.
   */
  async #killOneAtWork(files: readonly string[]): Promise<Killed> {
    const client = await this.#pool.connect()
    // Thrown away if this fails: the workers must not wait for its lock.
    let broken = true
    try {
      await client.query('begin')
      await client.query('lock table public.copies in exclusive mode')
      await this.#enqueue(files)
      const worker = await this.#findBusyWorker()
      const held = await this.#tasksOf(worker)
      await worker.kill()
      // Those too that it acquired in its last moment.
      const taskIds = [...new Set([...held, ...(await this.#tasksOf(worker))])]
      this.#progress.say(
        `${worker.name} was killed (SIGKILL) while it held ${count(taskIds.length, 'task')}; its lease lasts 2 s.`,
      )
      await client.query('commit')
      broken = false
      return { name: worker.name, taskIds }
    } finally {
      client.release(broken)
    }
  }

  /** Who holds the most running tasks, as soon as nobody takes more of them. */
  async #findBusyWorker(): Promise<WorkerProcess> {
    let before: readonly number[] = []
    for (;;) {
      const held = await Promise.all(this.#workers.map(async (worker) => (await this.#tasksOf(worker)).length))
      const most = Math.max(...held)
      const busiest = this.#workers[held.indexOf(most)]
      if (busiest !== undefined && most > 0 && held.join() === before.join()) return busiest
      before = held
      await this.#pause()
    }
  }

  async #tasksOf(worker: WorkerProcess): Promise<readonly string[]> {
    const { rows } = await this.#pool.query<{ id: string }>(
      `select id from tasks.compress_file
       where run_worker = $1 and tasks.is_running(started_at, finished_at, failed_at, canceled)`,
      [worker.workerId],
    )
    return rows.map(({ id }) => id)
  }

  async #until(done: (ended: number) => boolean): Promise<void> {
    for (;;) {
      const { rows } = await this.#pool.query<{ ended: number }>(
        'select (finished + failed + canceled)::integer as ended from tasks.stats_of_tasks_compress_file',
      )
      const ended = rows[0]?.ended ?? 0
      this.#progress.show(ended, this.#files.length)
      if (done(ended)) return
      await this.#pause()
    }
  }

  /** @throws if a worker has crashed, or the user has pressed Ctrl-C */
  async #pause(): Promise<void> {
    if (this.#crash !== undefined) throw this.#crash
    await delay(LOOK_MS, undefined, { signal: this.#signal })
  }

  async #stopWorkers(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop()))
  }
}

function count(number: number, what: string): string {
  return `${number} ${number === 1 ? what : `${what}s`}`
}
