import type { WorkerHealth } from '../worker/worker-health.js'

/** Why a worker isn't as it should be; empty: it is. */
export type HealthProblems = readonly string[]

/**
 * Whether the process should be left alone: false only where a restart helps. A database that is away is no reason, the worker
 * comes back by itself.
 */
export function liveProblems({ state }: WorkerHealth): HealthProblems {
  return state === 'stopped' ? ['the worker has stopped'] : []
}

/** Whether it takes tasks. */
export function readyProblems({ state, database, types }: WorkerHealth): HealthProblems {
  if (state !== 'running') return [`the worker is ${state}`]
  const problems = database.answers ? [] : [`the database does not answer: ${database.error ?? 'not asked yet'}`]
  for (const { schema, table, registered, error } of types) {
    if (error !== undefined) problems.push(`${schema}.${table}: ${error}`)
    else if (!registered) problems.push(`${schema}.${table} is not registered`)
  }
  return problems
}
