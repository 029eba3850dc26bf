import type { Check } from '../check.js'

/** How far this machine's clock is from the database's, and whether the queue's clock is the database's. */
export const clockCheck: Check = {
  name: 'clock',
  title: 'Clocks',
  async examine({ connection, options }) {
    const before = Date.now()
    const { rows } = await connection.query(
      `select 1000 * extract(epoch from clock_timestamp())::double precision as now,
         1000 * extract(epoch from tasks.clock() - clock_timestamp())::double precision as moved`,
    )
    const after = Date.now()
    const { now, moved } = rows[0] as { now: number; moved: number }
    // The answer was given at some moment of the round trip: only what lies outside of it is known.
    const offsetMs = Math.round(now < before ? now - before : now > after ? now - after : 0)
    const findings = []
    if (Math.abs(offsetMs) >= options.clockOffsetMs) {
      findings.push({
        code: 'clock_offset' as const,
        severity: 'warning' as const,
        subject: null,
        problem: `The clock of this machine is ${Math.abs(offsetMs)} ms ${offsetMs > 0 ? 'behind' : 'ahead of'} the database's; times that it computes for planned_to are off by that.`,
        remedy:
          "Synchronise it (NTP), or give delays instead of times: enqueue(…, { delayMs }). What is due is the database's decision in any case.",
        details: { offsetMs, roundTripMs: after - before },
      })
    }
    if (Math.abs(moved) >= 1_000) {
      findings.push({
        code: 'clock_replaced' as const,
        severity: 'critical' as const,
        subject: null,
        problem: `tasks.clock() differs from the server's clock by ${Math.round(moved)} ms: it was replaced.`,
        remedy:
          "create or replace function tasks.clock() returns timestamptz language sql volatile as 'select pg_catalog.clock_timestamp()';",
        details: { movedMs: Math.round(moved) },
      })
    }
    return findings
  },
}
