import type { Check } from '../check.js'

/** From here on inserters don't notify any more, and workers poll. */
const HALF = 0.5

/** How full the server's queue of notifications is: one listener that doesn't read fills it for all databases. */
export const notificationQueueCheck: Check = {
  name: 'notification_queue',
  title: 'Notification queue',
  async examine({ connection, options }) {
    const { rows } = await connection.query('select pg_notification_queue_usage() as use')
    const { use } = rows[0] as { use: number }
    if (use < Math.min(options.queueUse, HALF)) return []
    return [
      {
        code: 'queue_filling',
        severity: use >= HALF ? 'critical' : 'warning',
        subject: null,
        problem: `The notification queue is ${Math.round(use * 100)} % full; from half on tasks are found by polling only.`,
        remedy:
          'A session that executed LISTEN is in a long transaction or reads nothing; the server names its pid in the log (pg_notify). End it: select pg_terminate_backend(<pid>).',
        details: { use },
      },
    ]
  },
}
