import { Task } from '@pg-tasks/client'

class Greet extends Task<{ name: string }> {
  override async run(task: { name: string }): Promise<void> {
    console.log(`hello ${task.name}`)
    console.error(`hello ${task.name}, too`)
  }
}

export default new Greet()
