import { workerChannel } from '../events/channels.js'
import { type ListenerFailure, SafeEmitter } from '../events/safe-emitter.js'
import type { WorkerEvents } from './worker-events.js'

/** A worker's events, for its own listeners and for those of `node:diagnostics_channel`. */
export class WorkerEmitter extends SafeEmitter<WorkerEvents> {
  readonly #workerId: string
  readonly #channels = new Map<keyof WorkerEvents, ReturnType<typeof workerChannel>>()

  constructor(workerId: string, onListenerFailure: ListenerFailure) {
    super(onListenerFailure)
    this.#workerId = workerId
  }

  override listenerCount(event: keyof WorkerEvents): number {
    return super.listenerCount(event) + (this.#channel(event).hasSubscribers ? 1 : 0)
  }

  override emit<Name extends keyof WorkerEvents>(event: Name, ...args: WorkerEvents[Name]): boolean {
    const heard = super.emit(event, ...args)
    const channel = this.#channel(event)
    if (!channel.hasSubscribers) return heard
    channel.publish({ workerId: this.#workerId, event, args })
    return true
  }

  #channel(event: keyof WorkerEvents): ReturnType<typeof workerChannel> {
    let channel = this.#channels.get(event)
    if (channel === undefined) {
      channel = workerChannel(event)
      this.#channels.set(event, channel)
    }
    return channel
  }
}
