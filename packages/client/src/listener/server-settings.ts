import type { ClientConfig } from '../connection/connection-options.js'

/**
 * Adds a `tcp_user_timeout` to the settings that a session starts with. As a startup option, because pg-listen runs no
 * statement but its own.
 */
export function withTcpUserTimeout(config: ClientConfig, timeoutMs: number): ClientConfig {
  const setting = `-c tcp_user_timeout=${Math.round(timeoutMs)}`
  const { connectionString, options } = config
  // What the URL says would replace what the configuration says.
  const inUrl = connectionString !== undefined && URL_OPTIONS.test(connectionString)
  if (inUrl) {
    return { ...config, connectionString: connectionString.replace(URL_OPTIONS, `$1%20${encodeURIComponent(setting)}`) }
  }
  return { ...config, options: options ? `${options} ${setting}` : setting }
}

const URL_OPTIONS = /([?&]options=[^&#]+)/

/**
 * Whether the server, or the pooler before it, refuses the setting: pgbouncer takes no startup options (08P01), an old server
 * or another product doesn't know this one (42704) or doesn't allow it (22023, 42501).
 */
export function refusesSetting(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return code === '08P01' || code === '42704' || code === '22023' || code === '42501'
}
