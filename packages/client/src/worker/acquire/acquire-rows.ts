import { acquire, finishAndAcquire, type TypeDescription } from '@pg-tasks/sql'
import type { Claimed } from '../../task/claimed.js'
import type { Slots } from '../run/slots.js'
import { failureKind } from '../settle/failure-kind.js'
import type { TypeContext } from '../type/type-context.js'

/** Acquires for these slots, and finishes in the same transaction what they are about to finish, if it is little. */
export async function acquireRows(
  { control, workerId }: TypeContext,
  type: TypeDescription,
  slots: Slots,
  maxNum: number,
): Promise<Claimed[]> {
  const { finishing } = slots
  const options = { maxNum, workerId, slotsEmpty: slots.empty }
  const runs = type.limited ? [] : finishing.lend()
  if (runs.length === 0) return acquire<Claimed>(control, type, options)
  try {
    const { unfinished, rows } = await finishAndAcquire<Claimed>(control, type, runs, options)
    finishing.repay(runs, unfinished)
    return rows
  } catch (error) {
    finishing.takeBack(runs)
    if (failureKind(error) === 'server') throw error
    // The finish may be what failed; it is tried, and told, by itself.
    return acquire<Claimed>(control, type, { ...options, slotsEmpty: slots.empty })
  }
}
