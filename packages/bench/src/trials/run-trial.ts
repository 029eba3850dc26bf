import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Values } from '../measure/metrics.js'
import { nodeBinary } from '../server/node-binary.js'
import type { TrialAnswer, TrialRequest } from './trial.js'

const PROGRAM = join(import.meta.dirname, 'main.js')

/** Runs a trial in a process of its own, on the Node that all participants share. */
export function runTrial(request: TrialRequest): Promise<Values> {
  const child = fork(PROGRAM, [], { execPath: nodeBinary(), execArgv: childArguments(), stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    let answer: TrialAnswer | undefined
    child.once('message', (message: TrialAnswer) => {
      answer = message
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (answer === undefined)
        reject(new Error(`The process of the trial ended without an answer (${signal ?? code})`))
      else if ('error' in answer) reject(new Error(answer.error))
      else resolve(answer.values)
    })
    child.send(request)
  })
}

/** Lets a profile be taken: BENCH_NODE_OPTIONS='--cpu-prof --cpu-prof-dir=/tmp/profiles'. */
function childArguments(): string[] {
  return (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter((option) => option !== '')
}
