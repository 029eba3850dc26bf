/** A cron expression, where it is asked from, and all that follows; the oracle has no say in it. */
export interface CronCase {
  readonly title: string
  readonly cron: string
  readonly timezone: string
  /** The first occurrence is strictly later. */
  readonly after: string
  /** Consecutive occurrences. */
  readonly expected: readonly string[]
}

const NEW_YORK = 'America/New_York'
const BERLIN = 'Europe/Berlin'
const LORD_HOWE = 'Australia/Lord_Howe'
const SANTIAGO = 'America/Santiago'

/** Days on which the clocks change. */
export const CLOCK_CHANGES: readonly CronCase[] = [
  {
    title: 'runs a fixed time of a skipped hour when the gap ends',
    cron: '30 2 * * *',
    timezone: NEW_YORK,
    after: '2027-03-12T08:00Z',
    expected: ['2027-03-13T07:30Z', '2027-03-14T07:00Z', '2027-03-15T06:30Z'],
  },
  {
    title: 'runs a fixed time of a skipped hour when the gap ends, in Berlin too',
    cron: '30 2 * * *',
    timezone: BERLIN,
    after: '2027-03-27T02:00Z',
    expected: ['2027-03-28T01:00Z', '2027-03-29T00:30Z'],
  },
  {
    title: 'has one occurrence per gap for a list of fixed times in it',
    cron: '10,40 2 * * *',
    timezone: BERLIN,
    after: '2027-03-27T02:00Z',
    expected: ['2027-03-28T01:00Z', '2027-03-29T00:10Z', '2027-03-29T00:40Z'],
  },
  {
    title: 'keeps the hourly cadence over a gap',
    cron: '30 * * * *',
    timezone: BERLIN,
    after: '2027-03-28T00:00Z',
    expected: ['2027-03-28T00:30Z', '2027-03-28T01:30Z', '2027-03-28T02:30Z'],
  },
  {
    title: 'leaves no hole in a quarter-hourly cadence over a gap',
    cron: '*/15 * * * *',
    timezone: NEW_YORK,
    after: '2027-03-14T06:30Z',
    expected: ['2027-03-14T06:45Z', '2027-03-14T07:00Z', '2027-03-14T07:15Z', '2027-03-14T07:30Z'],
  },
  {
    title: 'runs a fixed time of a repeated hour once, the first time',
    cron: '30 1 * * *',
    timezone: NEW_YORK,
    after: '2027-11-05T06:00Z',
    expected: ['2027-11-06T05:30Z', '2027-11-07T05:30Z', '2027-11-08T06:30Z'],
  },
  {
    title: 'does not run a fixed time in the second pass of the hour',
    cron: '30 1 * * *',
    timezone: NEW_YORK,
    after: '2027-11-07T06:10Z',
    expected: ['2027-11-08T06:30Z'],
  },
  {
    title: 'runs each fixed time of a list once in a repeated hour',
    cron: '30 1,2 * * *',
    timezone: NEW_YORK,
    after: '2027-11-07T05:00Z',
    expected: ['2027-11-07T05:30Z', '2027-11-07T07:30Z', '2027-11-08T06:30Z'],
  },
  {
    title: 'runs a quarter-hourly cadence in both passes of a repeated hour',
    cron: '*/15 * * * *',
    timezone: NEW_YORK,
    after: '2027-11-07T04:45Z',
    expected: [
      ...['2027-11-07T05:00Z', '2027-11-07T05:15Z', '2027-11-07T05:30Z', '2027-11-07T05:45Z'],
      ...['2027-11-07T06:00Z', '2027-11-07T06:15Z', '2027-11-07T06:30Z', '2027-11-07T06:45Z', '2027-11-07T07:00Z'],
    ],
  },
  {
    title: 'runs an hourly cadence in both passes of a repeated hour',
    cron: '0 * * * *',
    timezone: NEW_YORK,
    after: '2027-11-07T04:00Z',
    expected: ['2027-11-07T05:00Z', '2027-11-07T06:00Z', '2027-11-07T07:00Z'],
  },
  {
    title: 'runs the hour after the repeated one once',
    cron: '0 2 * * *',
    timezone: NEW_YORK,
    after: '2027-11-06T12:00Z',
    expected: ['2027-11-07T07:00Z', '2027-11-08T07:00Z'],
  },
  {
    title: 'knows a gap of half an hour',
    cron: '15 2 * * *',
    timezone: LORD_HOWE,
    after: '2027-10-01T00:00Z',
    expected: ['2027-10-01T15:45Z', '2027-10-02T15:30Z', '2027-10-03T15:15Z'],
  },
  {
    title: 'keeps a ten-minute cadence over a gap of half an hour',
    cron: '*/10 * * * *',
    timezone: LORD_HOWE,
    after: '2027-10-02T15:10Z',
    expected: ['2027-10-02T15:20Z', '2027-10-02T15:30Z', '2027-10-02T15:40Z', '2027-10-02T15:50Z'],
  },
  {
    title: 'runs a quarter-hourly cadence in both passes of a repeated half hour',
    cron: '*/15 * * * *',
    timezone: LORD_HOWE,
    after: '2027-04-03T14:15Z',
    expected: ['2027-04-03T14:30Z', '2027-04-03T14:45Z', '2027-04-03T15:00Z', '2027-04-03T15:15Z', '2027-04-03T15:30Z'],
  },
  {
    title: 'runs midnight when a gap begins at midnight',
    cron: '0 0 * * *',
    timezone: SANTIAGO,
    after: '2026-09-05T00:00Z',
    expected: ['2026-09-05T04:00Z', '2026-09-06T04:00Z', '2026-09-07T03:00Z'],
  },
  {
    title: 'runs half past midnight when a gap begins at midnight',
    cron: '30 0 * * *',
    timezone: SANTIAGO,
    after: '2026-09-05T12:00Z',
    expected: ['2026-09-06T04:00Z', '2026-09-07T03:30Z'],
  },
  {
    title: 'runs half past eleven once when the last hour of the day is repeated',
    cron: '30 23 * * *',
    timezone: SANTIAGO,
    after: '2027-04-03T12:00Z',
    expected: ['2027-04-04T02:30Z', '2027-04-05T03:30Z'],
  },
  {
    title: 'runs a cadence with steps in both passes of the last hour of the day',
    cron: '*/20 1,23 * * *',
    timezone: SANTIAGO,
    after: '2027-04-04T01:00Z',
    expected: [
      ...['2027-04-04T02:00Z', '2027-04-04T02:20Z', '2027-04-04T02:40Z'],
      ...['2027-04-04T03:00Z', '2027-04-04T03:20Z', '2027-04-04T03:40Z', '2027-04-04T05:00Z'],
    ],
  },
  {
    title: 'runs a fixed time of a gap that ends at midnight',
    cron: '30 23 * * *',
    timezone: 'America/Nuuk',
    after: '2027-03-26T12:00Z',
    expected: ['2027-03-27T01:30Z', '2027-03-28T01:00Z', '2027-03-29T00:30Z'],
  },
  {
    title: 'runs a fixed time of a gap that ends at midnight, under another name of the zone',
    cron: '30 23 * * *',
    timezone: 'America/Godthab',
    after: '2027-03-27T12:00Z',
    expected: ['2027-03-28T01:00Z', '2027-03-29T00:30Z'],
  },
  {
    title: 'runs a fixed time of a gap that ends at midnight in Scoresbysund',
    cron: '0 23 * * 6',
    timezone: 'America/Scoresbysund',
    after: '2027-03-22T12:00Z',
    expected: ['2027-03-28T01:00Z', '2027-04-04T00:00Z'],
  },
  {
    title: 'runs once when the gap ends at the very time of another occurrence',
    cron: '30 23,0 * * *',
    timezone: 'America/Nuuk',
    after: '2027-03-27T12:00Z',
    expected: ['2027-03-28T01:00Z', '2027-03-28T01:30Z', '2027-03-29T00:30Z'],
  },
  {
    title: 'runs the fixed time of a day that a zone skipped as a whole',
    cron: '0 10 * * *',
    timezone: 'Pacific/Apia',
    after: '2011-12-29T12:00Z',
    expected: ['2011-12-29T20:00Z', '2011-12-30T10:00Z', '2011-12-30T20:00Z'],
  },
  {
    title: 'knows a gap of two hours',
    cron: '30 1 * * *',
    timezone: 'Antarctica/Troll',
    after: '2027-03-27T12:00Z',
    expected: ['2027-03-28T01:00Z', '2027-03-28T23:30Z'],
  },
]

/** Days of the month and of the week. */
export const CALENDAR: readonly CronCase[] = [
  {
    title: 'finds 29 February',
    cron: '0 0 29 2 *',
    timezone: 'UTC',
    after: '2027-01-01T00:00Z',
    expected: ['2028-02-29T00:00Z', '2032-02-29T00:00Z', '2036-02-29T00:00Z'],
  },
  {
    title: 'finds 29 February across a century without one',
    cron: '0 0 29 2 *',
    timezone: 'UTC',
    after: '2096-03-01T00:00Z',
    expected: ['2104-02-29T00:00Z'],
  },
  {
    title: 'passes by the months without a 31st',
    cron: '0 0 31 * *',
    timezone: 'UTC',
    after: '2027-01-31T00:00Z',
    expected: ['2027-03-31T00:00Z', '2027-05-31T00:00Z'],
  },
  {
    title: 'finds the last day of the month',
    cron: '0 0 L * *',
    timezone: 'UTC',
    after: '2028-01-01T00:00Z',
    expected: ['2028-01-31T00:00Z', '2028-02-29T00:00Z', '2028-03-31T00:00Z'],
  },
  {
    title: 'finds the first Monday',
    cron: '0 0 * * 1#1',
    timezone: 'UTC',
    after: '2027-01-01T00:00Z',
    expected: ['2027-01-04T00:00Z', '2027-02-01T00:00Z', '2027-03-01T00:00Z'],
  },
  {
    title: 'finds the fifth Friday',
    cron: '0 9 * * 5#5',
    timezone: 'UTC',
    after: '2027-01-01T00:00Z',
    expected: ['2027-01-29T09:00Z', '2027-04-30T09:00Z'],
  },
  ...['5L', '5#L', 'FRIL'].map((dayOfWeek) => ({
    title: `finds the last Friday as ${dayOfWeek}`,
    cron: `0 0 * * ${dayOfWeek}`,
    timezone: 'UTC',
    after: '2027-01-01T00:00Z',
    expected: ['2027-01-29T00:00Z', '2027-02-26T00:00Z', '2027-03-26T00:00Z'],
  })),
  {
    title: 'finds the weekday nearest to the 15th',
    cron: '0 0 15W * *',
    timezone: 'UTC',
    after: '2027-05-01T00:00Z',
    expected: ['2027-05-14T00:00Z', '2027-06-15T00:00Z', '2027-07-15T00:00Z', '2027-08-16T00:00Z'],
  },
  {
    title: 'finds the last weekday',
    cron: '0 0 LW * *',
    timezone: 'UTC',
    after: '2027-01-01T00:00Z',
    expected: ['2027-01-29T00:00Z', '2027-02-26T00:00Z', '2027-03-31T00:00Z'],
  },
  {
    title: 'takes either day of the month or day of the week when both are given',
    cron: '0 0 13 * 5',
    timezone: 'UTC',
    after: '2027-01-02T00:00Z',
    expected: ['2027-01-08T00:00Z', '2027-01-13T00:00Z', '2027-01-15T00:00Z', '2027-01-22T00:00Z'],
  },
  {
    title: 'takes both with a plus',
    cron: '0 0 13 * +5',
    timezone: 'UTC',
    after: '2027-01-01T00:00Z',
    expected: ['2027-08-13T00:00Z', '2028-10-13T00:00Z'],
  },
  {
    title: 'takes either with a step too, unlike Vixie cron',
    cron: '0 0 */2 * 1',
    timezone: 'UTC',
    after: '2027-01-01T00:00Z',
    expected: ['2027-01-03T00:00Z', '2027-01-04T00:00Z', '2027-01-05T00:00Z'],
  },
  {
    title: 'reads seconds as a first field of six',
    cron: '*/10 * * * * *',
    timezone: 'UTC',
    after: '2027-01-01T00:00:05Z',
    expected: ['2027-01-01T00:00:10Z', '2027-01-01T00:00:20Z', '2027-01-01T00:00:30Z'],
  },
  {
    title: 'is strictly later than an occurrence',
    cron: '0 12 * * *',
    timezone: 'UTC',
    after: '2027-01-01T12:00Z',
    expected: ['2027-01-02T12:00Z'],
  },
  {
    title: 'is later than the millisecond before an occurrence',
    cron: '0 12 * * *',
    timezone: 'UTC',
    after: '2027-01-01T11:59:59.999Z',
    expected: ['2027-01-01T12:00Z', '2027-01-02T12:00Z'],
  },
  ...(
    [
      ['@hourly', '2027-07-01T13:00Z', '2027-07-01T14:00Z'],
      ['@daily', '2027-07-02T00:00Z', '2027-07-03T00:00Z'],
      ['@midnight', '2027-07-02T00:00Z', '2027-07-03T00:00Z'],
      ['@weekly', '2027-07-04T00:00Z', '2027-07-11T00:00Z'],
      ['@monthly', '2027-08-01T00:00Z', '2027-09-01T00:00Z'],
      ['@yearly', '2028-01-01T00:00Z', '2029-01-01T00:00Z'],
      ['@Annually', '2028-01-01T00:00Z', '2029-01-01T00:00Z'],
    ] as const
  ).map(([cron, ...expected]) => ({
    title: `knows ${cron}`,
    cron,
    timezone: 'UTC',
    after: '2027-07-01T12:30Z',
    expected,
  })),
]
