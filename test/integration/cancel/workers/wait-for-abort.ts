import { type Claimed, LeaseLostError, Task, type TaskContext, Worker } from '@pg-tasks/client'

const { DATABASE_URL = '', TABLE = '', HEARTBEAT_MS } = process.env

/** What this process tells the test. The clock is the machine's, so that times of two processes can be compared. */
export type Told =
  | { readonly event: 'started'; readonly id: string }
  | { readonly event: 'aborted'; readonly id: string; readonly at: number; readonly reason: string }
  | { readonly event: 'not_listening' }

function tell(told: Told): void {
  process.send?.(told)
}

class WaitForAbort extends Task {
  override async run({ id }: Claimed, { signal }: TaskContext): Promise<void> {
    tell({ event: 'started', id })
    const reason = await new Promise<unknown>((resolve) => {
      signal.addEventListener('abort', () => {
        const at = performance.timeOrigin + performance.now()
        resolve(signal.reason)
        tell({ event: 'aborted', id, at, reason: signal.reason instanceof LeaseLostError ? signal.reason.reason : '' })
      })
    })
    throw reason
  }
}

const worker = new Worker({
  connectionString: DATABASE_URL,
  ...(HEARTBEAT_MS === undefined ? {} : { heartbeatIntervalMs: Number(HEARTBEAT_MS) }),
})
worker.add(new WaitForAbort({ table: TABLE }), 100)
worker.on('not_listening', () => tell({ event: 'not_listening' }))
await worker.run()
