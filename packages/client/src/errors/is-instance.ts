/**
 * `instanceof` for what the user's code has thrown, which may be anything: a proxy may throw when it is asked, and whoever asks stands
 * where nobody would hear of it.
 */
export function isInstance<Type>(thrown: unknown, type: abstract new (...args: never[]) => Type): thrown is Type {
  try {
    return thrown instanceof type
  } catch {
    return false
  }
}
