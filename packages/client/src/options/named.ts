/** A value as a message may show it: its kind, and itself if it is a number or a boolean; texts may be secrets. */
export function named(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (isThenable(value)) return 'a promise: is an await missing?'
  switch (typeof value) {
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value)
    case 'bigint':
      return `the bigint ${value}n`
    case 'string':
      return 'a string'
    default:
      return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
