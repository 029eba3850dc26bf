import { describe, expect, it } from 'vitest'
import { Random } from '../random.js'
import { ALL_FAULTS, planFaults } from './plan-faults.js'

const options = { durationMs: 600_000, workers: 3, tables: ['plain', 'slow'], weights: ALL_FAULTS }

describe('the plan of the faults', () => {
  it('is the same for the same seed, and another for another', () => {
    const plan = planFaults(new Random('1', 'faults'), options)
    expect(planFaults(new Random('1', 'faults'), options)).toEqual(plan)
    expect(planFaults(new Random('2', 'faults'), options)).not.toEqual(plan)
  })

  it('has every kind, never ends the watched worker, and leaves calms', () => {
    const plan = planFaults(new Random('1', 'faults'), options)
    expect(new Set(plan.map(({ fault }) => fault.kind))).toEqual(new Set(Object.keys(ALL_FAULTS)))
    const deadly = ['kill_worker', 'stop_worker', 'shift_clock']
    expect(plan.filter(({ fault }) => 'slot' in fault && fault.slot === 0 && deadly.includes(fault.kind))).toEqual([])
    const gaps = plan.slice(1).map(({ atMs }, index) => atMs - (plan[index]?.atMs ?? 0))
    expect(gaps.filter((gap) => gap >= 20_000).length).toBeGreaterThan(8)
  })

  it('does not change the longer it is', () => {
    const long = planFaults(new Random('1', 'faults'), options)
    const short = planFaults(new Random('1', 'faults'), { ...options, durationMs: 60_000 })
    expect(long.slice(0, short.length)).toEqual(short)
  })
})
