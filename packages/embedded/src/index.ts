export { EMBEDDED_ERROR_CODES, type EmbeddedErrorCode, EmbeddedPostgresError } from './errors.js'
export { type EmbeddedPostgres, start } from './start.js'
export type { StartOptions } from './start-options.js'
export { stop } from './stop.js'
