import { checkOptions } from '../options/check-options.js'
import { integer, text } from '../options/checks.js'

/** Where {@link startMetricsServer} listens. */
export interface MetricsServerOptions {
  /**
   * Port; 0: any free one.
   * @defaultValue 9464
   */
  readonly port?: number
  /**
   * Address. Metrics and health name tables and errors: `0.0.0.0` only in a network of your own.
   * @defaultValue '127.0.0.1'
   */
  readonly host?: string
}

/** @throws InvalidOptionError that names the option */
export function resolveMetricsServerOptions(options: MetricsServerOptions): Readonly<Required<MetricsServerOptions>> {
  return checkOptions<Required<MetricsServerOptions>>('startMetricsServer', options, {
    port: integer({ min: 0, max: 65_535, default: 9464 }),
    host: text({ default: '127.0.0.1' }),
  })
}
