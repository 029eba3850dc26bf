export { metricsHandler } from './metrics-handler.js'
export type { MetricsServerOptions } from './metrics-options.js'
export { WorkerMetrics } from './prometheus/worker-metrics.js'
export { type MetricsServer, startMetricsServer } from './start-metrics-server.js'
