import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Worker } from '../worker/worker.js'
import { metricsHandler } from './metrics-handler.js'
import { type MetricsServerOptions, resolveMetricsServerOptions } from './metrics-options.js'
import { WorkerMetrics } from './prometheus/worker-metrics.js'

/** A server of {@link startMetricsServer}. */
export interface MetricsServer {
  /** Without a path: `http://127.0.0.1:9464`. */
  readonly url: string
  /** Ends it, open requests too; resolves when the port is free. Can be called several times. */
  close(): Promise<void>
}

/**
 * Serves a worker's metrics and health over HTTP: `/metrics` in Prometheus' text format, `/live` and `/ready` for Kubernetes and
 * the like (200, or 503 with what is wrong, as JSON). It doesn't keep the process alive.
 *
 * @throws InvalidOptionError that names the option
 * @throws Node's error if the port is taken (`EADDRINUSE`)
 *
 * @example
 * const metrics = await startMetricsServer(worker, { port: 9464, host: '0.0.0.0' })
 * await worker.run()
 * await metrics.close()
 */
export async function startMetricsServer(worker: Worker, options: MetricsServerOptions = {}): Promise<MetricsServer> {
  const { port, host } = resolveMetricsServerOptions(options)
  const metrics = new WorkerMetrics(worker)
  const server = createServer(metricsHandler(worker, metrics))
  server.unref()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    metrics.close()
    throw error
  }
  let closing: Promise<void> | undefined
  return Object.freeze({
    url: urlOf(server.address() as AddressInfo),
    close: (): Promise<void> => {
      closing ??= new Promise((resolve) => {
        metrics.close()
        server.close(() => resolve())
        server.closeAllConnections()
      })
      return closing
    },
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
