import { existsSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { withExamples } from '../arguments/add-options.js'
import { writeFirstTask } from '../init/write-first-task.js'
import { Output } from '../output/output.js'

interface InitOptions {
  readonly js?: boolean
  readonly json?: boolean
}

/** `pg-tasks init` */
export function initCommand(): Command {
  const command = new Command('init')
    .summary('Write a first task into this project.')
    .description(
      'Write a first task, its table and a script that enqueues into this project. Files that are there stay as they are.',
    )
    .option('--js', 'JavaScript (default: TypeScript if there is a tsconfig.json)')
    .option('--json', 'print JSON')
    .action((options: InitOptions) => {
      const typescript = options.js !== true && existsSync('tsconfig.json')
      const extension = typescript ? (isModule() ? 'ts' : 'mts') : 'mjs'
      const { written, kept } = writeFirstTask('tasks', extension)
      new Output(options).answer({ written, kept }, () => {
        const lines = [
          ...written.map((file) => `written  ${file}`),
          ...kept.map((file) => `kept     ${file} (it was there)`),
          '',
          'What next:',
          '  npm install @pg-tasks/client @pg-tasks/sql pg',
          ...(typescript ? ['  npm install --save-dev tsx @types/node @types/pg'] : []),
          `  npx pg-tasks dev tasks/say-hello.${extension} --sql tasks/say-hello.sql --watch`,
          `  npx pg-tasks enqueue say_hello name=world --embedded       (in another terminal)`,
        ]
        return `${lines.join('\n')}\n`
      })
    })
  return withExamples(command, ['pg-tasks init', 'pg-tasks init --js'])
}

/** Whether `.ts` and `.js` files of this project are ES modules. */
function isModule(): boolean {
  try {
    const { type } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly type?: unknown }
    return type === 'module'
  } catch {
    return false
  }
}
