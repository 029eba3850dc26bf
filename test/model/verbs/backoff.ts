import type { Settings } from '../world/world.js'

/** Wait before a retry. The trial's database leaves the spread out. */
export function backoff({ backoffBaseMs, backoffMaxMs }: Settings, retries: number): number {
  return Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.max(0, retries))
}
