import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { ActiveRun } from '../../../packages/client/src/worker/run/active-run.js'
import { RunQueue } from '../../../packages/client/src/worker/run/run-queue.js'

/** A queue keeps and returns; it asks nothing of its runs. */
function run(id: number): ActiveRun {
  return { id: String(id) } as unknown as ActiveRun
}

it('gives first what came first, also where one is taken out of the middle', () => {
  const queue = new RunQueue()
  const runs = Array.from({ length: 5 }, (_, id) => run(id))
  for (const one of runs) queue.push(one)
  expect(queue.shift()).toBe(runs[0])
  queue.remove(runs[2] as ActiveRun)
  expect(queue.length).toBe(3)
  expect([queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([runs[1], runs[3], runs[4], undefined])
})

it('keeps its order and its length through a backlog in which it is never empty', () => {
  const queue = new RunQueue()
  let taken = 0
  for (let id = 0; id < 10_000; id += 1) {
    queue.push(run(id))
    if (queue.length <= 100) continue
    expect(queue.shift()?.id).toBe(String(taken))
    taken += 1
  }
  expect(queue.length).toBe(100)
  expect(queue.clear().map(({ id }) => Number(id))).toEqual(Array.from({ length: 100 }, (_, index) => taken + index))
  expect(queue.length).toBe(0)
})

it('holds no run any more that was taken, though it is never empty', async () => {
  setFlagsFromString('--expose_gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const queue = new RunQueue()
  queue.push(run(0))
  const taken = Array.from({ length: 1_000 }, (_, id) => {
    queue.push(run(id + 1))
    return new WeakRef(queue.shift() as ActiveRun)
  })
  // A WeakRef holds its object until the end of the turn.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  expect(taken.filter((one) => one.deref() !== undefined)).toEqual([])
  expect(queue.length).toBe(1)
})
