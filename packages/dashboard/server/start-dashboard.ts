import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidOptionError } from '@pg-tasks/client'
import { makeDashboard } from './create-dashboard.js'
import { type DashboardOptions, resolveDashboardOptions } from './dashboard-options.js'
import { isLoopback } from './loopback.js'

/** Settings of a dashboard that serves itself. */
export interface StartDashboardOptions extends DashboardOptions {
  /**
   * The address to bind to. Any other than a loopback one needs `token`, `users` or `authenticate`.
   * @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined
  /**
   * The port; 0 takes a free one.
   * @defaultValue 3100
   */
  readonly port?: number | undefined
}

/** A dashboard that is being served. */
export interface RunningDashboard {
  /** Where to look at it. */
  readonly url: string
  /** Stops serving and ends its connections. */
  close(): Promise<void>
}

/**
 * Serves a dashboard. On a loopback address it needs no sign-in; requests under other host names are then refused, so that no page
 * of another site reaches it.
 *
 * @throws InvalidOptionError that names the option; the error of node:net if the port is taken
 */
export async function startDashboard(options: StartDashboardOptions): Promise<RunningDashboard> {
  const { host = '127.0.0.1', port = 3100, ...rest } = options
  const resolved = resolveDashboardOptions('startDashboard', rest)
  const signsIn = resolved.users.length > 0 || resolved.authenticate !== undefined
  if (!signsIn && !isLoopback(host)) {
    throw new InvalidOptionError(
      'startDashboard',
      'host',
      `${host} can be reached from other machines: give a token (openssl rand -hex 16), or bind to 127.0.0.1.`,
    )
  }
  const dashboard = makeDashboard(resolved, !signsIn)
  const server = createServer((request, response) => void dashboard.listener(request, response))
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    await dashboard.close()
    throw error
  }
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host}:${bound}${resolved.basePath}/`,
    async close() {
      const closed = server.listening ? once(server, 'close') : undefined
      server.close()
      await dashboard.close()
      server.closeAllConnections()
      await closed
    },
  }
}
