/** A generator of random numbers that says the same for the same seed, on every machine. */
export class Random {
  #state: number

  /** @param stream - keeps draws for one purpose apart from those for another */
  constructor(seed: string, stream: string) {
    let hash = 0x811c9dc5
    for (const byte of Buffer.from(`${seed}\u0000${stream}`)) hash = Math.imul(hash ^ byte, 0x01000193)
    this.#state = hash >>> 0
  }

  /** From 0 (inclusive) to 1 (exclusive): mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number, both ends included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  /** True in so many of one cases. */
  chance(share: number): boolean {
    return this.next() < share
  }

  /** Exponentially distributed: the time to the next of events that come by themselves. */
  gap(mean: number): number {
    return -Math.log(1 - this.next()) * mean
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.integer(0, values.length - 1)] as Value
  }

  /** One of the keys, as often as its weight says. */
  weighted<Key extends string>(weights: Readonly<Partial<Record<Key, number>>>): Key {
    const entries = Object.entries(weights) as Array<[Key, number]>
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [key, weight] of entries) {
      left -= weight
      if (left < 0) return key
    }
    return (entries.at(-1) as [Key, number])[0]
  }
}
