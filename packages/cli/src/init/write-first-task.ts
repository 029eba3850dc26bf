import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `mts`: in a package whose `.ts` files are CommonJS, where what is only an ES module can't be imported everywhere. */
export type ModuleExtension = 'ts' | 'mts' | 'mjs'

/** What was written, and what was there already. */
export interface FirstTask {
  readonly written: readonly string[]
  readonly kept: readonly string[]
}

/** Writes the files of a first task into a folder; none that is there is touched. */
export function writeFirstTask(folder: string, extension: ModuleExtension): FirstTask {
  const written: string[] = []
  const kept: string[] = []
  mkdirSync(folder, { recursive: true })
  const files: ReadonlyArray<readonly [string, string]> = [
    ['say-hello.sql', TABLE],
    [`say-hello.${extension}`, extension === 'mjs' ? TASK_JS : TASK_TS],
    [`enqueue.${extension}`, enqueueScript(extension)],
  ]
  for (const [name, text] of files) {
    const file = join(folder, name)
    if (existsSync(file)) kept.push(file)
    else {
      writeFileSync(file, text)
      written.push(file)
    }
  }
  return { written, kept }
}

const TABLE = `-- A task type is a table: its columns are what a task needs to know. Written so that it can be run again.
create table if not exists tasks.say_hello (
  like tasks.template including defaults including identity including indexes,
  name text not null
);
select tasks.register('tasks', 'say_hello');
`

const TASK_TS = `import { type Claimed, Task, type TaskContext } from '@pg-tasks/client'

export class SayHello extends Task<{ name: string }> {
  override async run(task: Claimed<{ name: string }>, { attempt }: TaskContext) {
    // Returning finishes the task, throwing runs it again later.
    console.log(\`Hello \${task.name}, attempt \${attempt}\`)
  }
}

// What a module exports is run by: pg-tasks worker <module>
export const sayHello = new SayHello()
`

const TASK_JS = `import { Task } from '@pg-tasks/client'

export class SayHello extends Task {
  async run(task, { attempt }) {
    // Returning finishes the task, throwing runs it again later.
    console.log(\`Hello \${task.name}, attempt \${attempt}\`)
  }
}

// What a module exports is run by: pg-tasks worker <module>
export const sayHello = new SayHello()
`

function enqueueScript(extension: ModuleExtension): string {
  const run = extension === 'mjs' ? 'node tasks/enqueue.mjs' : `npx tsx tasks/enqueue.${extension}`
  const imported = extension === 'ts' ? './say-hello.js' : './say-hello.mjs'
  return `import pg from 'pg'
import { sayHello } from '${imported}'

// DATABASE_URL=$(npx pg-tasks dev url) ${run} world
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const id = await sayHello.enqueue(pool, { name: process.argv[2] ?? 'world' })
console.log(\`Task \${id} is enqueued.\`)
await pool.end()
`
}
