import pg from 'pg'
import { openPeer } from '../peers/peers.js'
import type { TrialAnswer, TrialRequest } from './trial.js'
import { TRIALS } from './trials.js'

/** The program of the process in which one trial runs: takes a request, answers, ends. */
process.once('message', (request: TrialRequest) => {
  void answer(request).then((reply) => process.send?.(reply, () => process.exit(0)))
})

async function answer(request: TrialRequest): Promise<TrialAnswer> {
  const client = new pg.Client({ connectionString: request.url, application_name: 'bench' })
  try {
    await client.connect()
    const peer = await openPeer(request.participant.peer, { url: request.url, config: request.participant.config })
    await peer.install()
    const values = await TRIALS[request.trial]({ ...request, peer, client })
    await client.end()
    return { values }
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}
