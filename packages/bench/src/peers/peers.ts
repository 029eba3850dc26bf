import type { Peer, PeerOptions } from './peer.js'

/** Which queue, and in which of its configurations. */
export interface Participant {
  readonly peer: 'ours' | 'graphile-worker' | 'pg-boss'
  readonly config: string
}

/** Loads a queue. Only the one that is asked for: the others may not even run on this Node. */
export async function openPeer(name: Participant['peer'], options: PeerOptions): Promise<Peer> {
  switch (name) {
    case 'ours':
      return new (await import('./ours.js')).Ours(options)
    case 'graphile-worker':
      return new (await import('./graphile-worker.js')).GraphileWorker(options)
    case 'pg-boss':
      return new (await import('./pg-boss.js')).PgBossPeer(options)
  }
}
