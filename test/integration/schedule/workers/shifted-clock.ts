/**
 * A worker in a process whose clock is wrong by `SHIFT_MS`; it prints `ready` and the schedules that it handles.
 *
 * Everything that reads the wall clock in JavaScript goes through Date; the timers don't.
 */
const shiftMs = Number(process.env.SHIFT_MS)
const RightDate = Date
globalThis.Date = class extends RightDate {
  constructor(...given: [] | ConstructorParameters<DateConstructor>) {
    if (given.length === 0) super(RightDate.now() + shiftMs)
    else super(...given)
  }

  static override now(): number {
    return RightDate.now() + shiftMs
  }
} as DateConstructor

const { Worker } = await import('@pg-tasks/client')
const worker = new Worker({ connectionString: String(process.env.DATABASE_URL) })
worker.on('ready', () => console.log(`ready ${new Date().toISOString()}`))
worker.on('scheduled', ({ key }) => console.log(`scheduled ${key}`))
await worker.run()

export {}
