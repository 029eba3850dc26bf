import type { EventListener, EventMap, SafeEmitter } from './safe-emitter.js'

/** Lets others listen to an emitter, and not emit. */
export class EventSource<Events extends EventMap<Events>> {
  readonly #emitter: SafeEmitter<Events>

  constructor(emitter: SafeEmitter<Events>) {
    this.#emitter = emitter
  }

  on<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    this.#emitter.on(event, listener)
    return this
  }

  once<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    this.#emitter.once(event, listener)
    return this
  }

  off<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    this.#emitter.off(event, listener)
    return this
  }

  /** The name under which `node:events` looks for {@link EventSource.off}. */
  removeListener<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    return this.off(event, listener)
  }
}
