import { describe, expect, it } from 'vitest'
import { compareWithOracle, UNUSUAL_ZONES } from './compare-with-oracle.js'
import { oracleFor } from './wall-clock-oracle.js'

/**
 * `CRON_CASES=100000 CRON_SEED=7 CRON_ZONES=all npx vitest run test/unit/schedule/cron-oracle.test.ts` is the long run;
 * 2,000 cases take about 5 seconds.
 */
const cases = Number(process.env.CRON_CASES ?? 2000)
const seed = Number(process.env.CRON_SEED ?? 2027)
const zones = process.env.CRON_ZONES === 'all' ? Intl.supportedValuesOf('timeZone') : UNUSUAL_ZONES

describe('cron against a clock on the wall', () => {
  it(`agrees with the oracle in ${cases} random cases`, { timeout: 20_000 + cases * 20 }, () => {
    expect(compareWithOracle({ cases, seed, zones })).toEqual([])
  })

  it('has an oracle that knows what cron libraries get wrong', () => {
    const following = (cron: string, timezone: string, instant: string, n: number) =>
      oracleFor(cron, timezone)
        .after(Date.parse(instant), n)
        .map((found) => new Date(found).toISOString().slice(5, 16))

    expect(following('30 23 * * *', 'America/Nuuk', '2027-03-27T12:00Z', 2)).toEqual(['03-28T01:00', '03-29T00:30'])
    expect(following('30 1 * * *', 'America/New_York', '2027-11-07T06:10Z', 1)).toEqual(['11-08T06:30'])
    expect(following('*/30 * * * *', 'America/New_York', '2027-11-07T05:00Z', 3)).toEqual([
      '11-07T05:30',
      '11-07T06:00',
      '11-07T06:30',
    ])
    expect(following('15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T00:00Z', 1)).toEqual(['10-02T15:30'])
    expect(following('0 10 30 12 *', 'Pacific/Apia', '2011-12-29T00:00Z', 1)).toEqual(['12-30T10:00'])
  })
})
