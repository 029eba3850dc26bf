import { Task } from '@pg-tasks/client'

class Greet extends Task {
  async run({ name }) {
    console.log(`hello ${name}`)
  }
}

export default new Greet({ columns: ['name', 'tone'] })
