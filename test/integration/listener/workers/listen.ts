import { resolveConnection } from '../../../../packages/client/src/connection/connection-source.js'
import { Listener } from '../../../../packages/client/src/listener/listener.js'

const listener = new Listener({
  source: resolveConnection('Listener', { connectionString: process.env.DATABASE_URL ?? '' }),
  channels: ['pg_tasks'],
  applicationName: 'stopped listener',
  onNotification: () => {},
  tcpUserTimeoutMs: Number(process.env.TCP_USER_TIMEOUT_MS),
})
await listener.start()
console.log('listening')
