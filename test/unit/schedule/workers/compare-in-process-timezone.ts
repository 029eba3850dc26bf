import { parseCron } from '../../../../packages/client/src/schedule/cron.js'
import { compareWithOracle, UNUSUAL_ZONES } from '../compare-with-oracle.js'
import { CALENDAR, CLOCK_CHANGES } from '../cron-table.js'
import { nextOccurrences } from '../occurrence-list.js'

/** Runs in a process whose own zone is set by TZ, and prints what differs there. */
const cases = Number(process.argv[2])
const wrongInTable = [...CLOCK_CHANGES, ...CALENDAR].filter(
  ({ cron, timezone, after, expected }) =>
    nextOccurrences(cron, timezone, after, expected.length).join() !== expected.join(),
)

console.log(
  JSON.stringify({
    offsetMinutes: -new Date('2027-07-01T00:00Z').getTimezoneOffset(),
    noonInUtc: parseCron('0 12 * * *', 'UTC').next(new Date('2027-03-13T00:00Z')),
    wrongInTable,
    mismatches: compareWithOracle({ cases, seed: 41, zones: UNUSUAL_ZONES }),
  }),
)
