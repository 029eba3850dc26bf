import type { Client } from 'pg'

/**
 * The tasks whose effects, written in the finishing transactions, are not one for each time that they were finished: resets of a
 * finished task, and its end today. What was deleted had ended somehow. The model has no part in this.
 */
export async function wrongEffects(control: Client, table: string): Promise<readonly unknown[]> {
  const { rows } = await control.query(
    `select s.* from (
       select i.id, t.id is not null as there, (t.finished_at is not null)::int as finished,
         (select count(*)::int from model.effects e where e.task = i.id) as effects,
         (select count(*)::int from model.undone u where u.task = i.id) as undone
       from (select task from model.effects union select task from model.undone union select id from tasks.${table}) i (id)
       left join tasks.${table} t on t.id = i.id
     ) s
     where case when s.there then s.effects <> s.undone + s.finished else s.effects - s.undone not in (0, 1) end`,
  )
  return rows
}
