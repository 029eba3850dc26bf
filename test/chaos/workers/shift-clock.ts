/** From now on this process believes that the time is another. */
export function shiftClock(byMs: number): void {
  if (byMs === 0) return
  const RealDate = Date
  class ShiftedDate extends RealDate {
    constructor(...args: [] | [number | string]) {
      if (args.length === 0) super(RealDate.now() + byMs)
      // With year and month it has more arguments than its type says.
      else super(...(args as [number]))
    }

    static override now(): number {
      return RealDate.now() + byMs
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor
}
