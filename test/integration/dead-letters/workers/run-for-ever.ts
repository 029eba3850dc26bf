import { type Claimed, Task, Worker } from '@pg-tasks/client'

const { DATABASE_URL = '', TABLE = '' } = process.env

class RunForEver extends Task {
  override async run({ id }: Claimed): Promise<void> {
    process.send?.(id)
    await new Promise(() => {})
  }
}

await new Worker({ connectionString: DATABASE_URL }).add(new RunForEver({ table: TABLE })).run()
