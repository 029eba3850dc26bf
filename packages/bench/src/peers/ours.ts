import { type Claimed, inTransaction, Task, type TaskContext, Worker } from '@pg-tasks/client'
import { migrate, register } from '@pg-tasks/sql'
import pg, { type Client } from 'pg'
import { CONFIGURATIONS, type OurConfiguration, pick } from './configurations.js'
import type { Enqueuer, Peer, PeerOptions, Working, WorkOptions } from './peer.js'

const CREATE_TABLE = `
  create table tasks.noop (
    like tasks.template including defaults including identity including indexes,
    mark double precision not null default 0
  )`

interface Columns {
  mark: number
}

/** A handler that does nothing and returns: the worker finishes the task. */
class Noop extends Task<Columns> {
  readonly #onTask: (mark: number) => void

  constructor(onTask: (mark: number) => void, preparedStatements: boolean) {
    super({ table: 'noop', preparedStatements })
    this.#onTask = onTask
  }

  override async run(task: Claimed<Columns>): Promise<void> {
    this.#onTask(task.mark)
  }
}

/** A handler that writes a row of the user's and finishes its task in one transaction. */
class Write extends Task<Columns> {
  readonly #onTask: (mark: number) => void
  readonly #pool: pg.Pool

  constructor(onTask: (mark: number) => void, preparedStatements: boolean, pool: pg.Pool) {
    super({ table: 'noop', preparedStatements })
    this.#onTask = onTask
    this.#pool = pool
  }

  override async run(task: Claimed<Columns>): Promise<void> {
    this.#onTask(task.mark)
    await inTransaction(this.#pool, async (tx) => {
      await tx.query('insert into effects (task) values ($1)', [task.id])
      await this.finish(tx, task)
    })
  }
}

/** A handler that writes a row of the user's in the transaction of its batch. */
class WriteInOne extends Task<Columns> {
  readonly #onTask: (mark: number) => void

  constructor(onTask: (mark: number) => void) {
    super({ table: 'noop', settle: 'one_transaction' })
    this.#onTask = onTask
  }

  override async run(task: Claimed<Columns>, { tx }: TaskContext): Promise<void> {
    this.#onTask(task.mark)
    await tx.query('insert into effects (task) values ($1)', [task.id])
  }
}

/** pg-tasks itself. */
export class Ours implements Peer {
  readonly claim = '%acquire_tasks_noop%'
  readonly #url: string
  readonly #config: OurConfiguration
  readonly #task: Noop

  constructor({ url, config }: PeerOptions) {
    this.#url = url
    this.#config = pick(CONFIGURATIONS.ours, config)
    this.#task = new Noop(() => {}, this.#config.preparedStatements === true)
  }

  async install(): Promise<void> {
    await this.#once(async (client) => {
      await migrate(client)
      await client.query(CREATE_TABLE)
      await client.query('create table effects (task text not null)')
      const { storageTime, notify } = this.#config
      await register(client, 'tasks', 'noop', { storageTime, notify })
    })
  }

  async fill(count: number): Promise<void> {
    await this.#once(async (client) => {
      await client.query('insert into tasks.noop (mark) select 0 from generate_series(1, $1::integer)', [count])
    })
  }

  async isDrained(client: Client): Promise<boolean> {
    const { rows } = await client.query(
      'select not exists (select from tasks.noop where finished_at is null) as bench_drained',
    )
    return rows[0].bench_drained
  }

  async work({ onTask, userWrite }: WorkOptions): Promise<Working> {
    const { concurrency, batchSize, preparedStatements = false, oneTransaction = false } = this.#config
    const pool =
      userWrite && !oneTransaction ? new pg.Pool({ connectionString: this.#url, max: concurrency }) : undefined
    const task = oneTransaction
      ? new WriteInOne(onTask)
      : pool === undefined
        ? new Noop(onTask, preparedStatements)
        : new Write(onTask, preparedStatements, pool)
    const worker = new Worker({
      connectionString: this.#url,
      handleSignals: false,
      ...(batchSize === undefined ? {} : { batchSize }),
    })
    worker.on('error', (error) => process.stderr.write(`${String(error)}\n`))
    worker.add(task, concurrency)
    const ready = new Promise<void>((resolve) => worker.once('ready', resolve))
    const running = worker.run()
    await Promise.race([ready, running])
    return {
      async stop() {
        await worker.stop()
        await running
        await pool?.end()
      },
    }
  }

  async enqueuer(connections: number): Promise<Enqueuer> {
    const pool = new pg.Pool({ connectionString: this.#url, max: connections })
    return {
      enqueue: async (mark) => {
        await this.#task.enqueue(pool, { mark })
      },
      enqueueMany: async (marks) => {
        await this.#task.enqueueMany(
          pool,
          marks.map((mark) => ({ mark })),
        )
      },
      enqueueIn: async (client, { mark, plannedTo }) => {
        await this.#task.enqueue(client, { mark, ...(plannedTo === undefined ? {} : { planned_to: plannedTo }) })
      },
      end: () => pool.end(),
    }
  }

  async #once(work: (client: Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: this.#url })
    await client.connect()
    try {
      await work(client)
    } finally {
      await client.end()
    }
  }
}
