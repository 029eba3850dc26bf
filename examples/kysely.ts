/** Kysely works as it is: give a Kysely or a Transaction wherever a connection is asked for. */
import { type Claimed, inTransaction, Task, Worker } from '@pg-tasks/client'
import { type Generated, Kysely, PostgresDialect } from 'kysely'
import { withDatabase } from './with-database.js'

interface Database {
  users: { id: Generated<string>; name: string; welcomed: Generated<boolean> }
}

type Welcome = { user_id: string }

class WelcomeUser extends Task<Welcome> {
  readonly #database: Kysely<Database>

  constructor(database: Kysely<Database>) {
    super()
    this.#database = database
  }

  override async run(task: Claimed<Welcome>): Promise<void> {
    await inTransaction(this.#database, async (transaction) => {
      await transaction.updateTable('users').set({ welcomed: true }).where('id', '=', task.user_id).execute()
      await this.finish(transaction, task)
    })
  }
}

await withDatabase(async ({ connectionString, pool }) => {
  await pool.query(`
    create table users (
      id       bigint generated always as identity primary key,
      name     text not null,
      welcomed boolean not null default false
    );
    create table tasks.welcome_user (
      like tasks.template including defaults including identity including indexes,
      user_id bigint not null references users
    );
    select tasks.register('tasks', 'welcome_user');
  `)
  const database = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
  const welcomeUser = new WelcomeUser(database)

  const worker = new Worker({ connectionString })
  worker.add(welcomeUser)
  const finished = new Promise((resolve) => worker.once('finished', resolve))
  const running = worker.run()

  await database.transaction().execute(async (transaction) => {
    const { id } = await transaction
      .insertInto('users')
      .values({ name: 'Ann' })
      .returning('id')
      .executeTakeFirstOrThrow()
    await welcomeUser.enqueue(transaction, { user_id: id })
  })

  await finished
  await worker.stop()
  await running
  console.log(await database.selectFrom('users').select(['name', 'welcomed']).execute())
})

// Output:
// [ { name: 'Ann', welcomed: true } ]
