import type { Client } from 'pg'

/** A queue under measurement: ours or another's. One process, one database, one configuration of it. */
export interface Peer {
  /** Makes the queue's schema in the empty database, and the table `effects` of the user's own. */
  install(): Promise<void>
  /** Puts this many ready tasks there, by whatever way is fastest. */
  fill(count: number): Promise<void>
  /** Whether no task is left to be done. The statement holds the word `bench_`, so that it isn't counted. */
  isDrained(client: Client): Promise<boolean>
  /** What its claiming statement looks like in pg_stat_statements, for LIKE. */
  readonly claim: string
  /** Starts a worker. */
  work(options: WorkOptions): Promise<Working>
  /** Makes what enqueues, with this many connections at most. */
  enqueuer(connections: number): Promise<Enqueuer>
}

export interface NewTask {
  /** Comes back to {@link WorkOptions.onTask}. */
  readonly mark: number
  readonly plannedTo?: Date
}

export interface WorkOptions {
  /** Told at the start of each task's handler. */
  readonly onTask: (mark: number) => void
  /** Whether the handler writes a row of the user's: in one transaction with the task's end, where the queue has that. */
  readonly userWrite: boolean
}

export interface Working {
  stop(): Promise<void>
}

export interface Enqueuer {
  /** One task, in a transaction of its own. */
  enqueue(mark: number): Promise<void>
  /** A task for each mark, by one call of the queue's bulk interface. */
  enqueueMany(marks: readonly number[]): Promise<void>
  /** One task inside the transaction that is open on this client. */
  enqueueIn(client: Client, task: NewTask): Promise<void>
  end(): Promise<void>
}

/** What {@link openPeer} needs. */
export interface PeerOptions {
  readonly url: string
  /** Name of one of the peer's configurations. */
  readonly config: string
}
