import type { Logger } from './logger.js'

function ignore(): void {}

/** Says nothing; the default, because a library has no business on the console. */
export const noopLogger: Logger = Object.freeze({ debug: ignore, info: ignore, warn: ignore, error: ignore })
