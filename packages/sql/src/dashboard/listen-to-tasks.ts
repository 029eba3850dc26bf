import type { Queryable } from '../connection.js'

/** The channels on which enqueueing, and cancels, resets and schedules, are announced. */
export const TASK_CHANNELS = ['pg_tasks', 'pg_tasks_control'] as const

/** From now on the session hears what is announced. */
export async function listenToTasks(session: Queryable): Promise<void> {
  await session.query(TASK_CHANNELS.map((channel) => `listen ${channel}`).join('; '))
}
