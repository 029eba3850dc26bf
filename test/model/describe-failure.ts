import type { RunDetails } from 'fast-check'

type Details = Pick<
  RunDetails<unknown[]>,
  'seed' | 'counterexamplePath' | 'counterexample' | 'errorInstance' | 'numRuns' | 'numShrinks'
>

/** What a failure has in it that a reader needs: what happened, in the shortest form that was found, and how to see it again. */
export function describeFailure(details: Details): string {
  const { seed, counterexamplePath, counterexample, errorInstance, numRuns, numShrinks } = details
  const replayPath = /replayPath="([^"]*)"/.exec(String(counterexample?.at(-1)))?.[1]
  const { message } = errorInstance as Error
  return [
    `The queue differs from the model (case ${numRuns}, shrunk ${numShrinks} times).`,
    message,
    '',
    `Again: MODEL_SEED=${seed} MODEL_PATH=${counterexamplePath} MODEL_REPLAY_PATH=${replayPath} npx vitest run test/model/model.test.ts`,
  ].join('\n')
}
