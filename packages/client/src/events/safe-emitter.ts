import { callSafely } from './call-safely.js'

/** Event names with the arguments of their listeners. */
export type EventMap<Events> = { [Name in keyof Events]: readonly unknown[] }

/** A listener of an event; what it returns is not used, but a promise that rejects is caught. */
export type EventListener<Arguments extends readonly unknown[]> = (...args: Arguments) => unknown

/** Told what a listener threw, or with what its promise was rejected. */
export type ListenerFailure = (error: unknown, event: string) => void

interface Registration {
  readonly listener: (...args: never[]) => unknown
  readonly once: boolean
}

/**
 * A typed event emitter that can't hurt who emits.
 *
 * Unlike Node's, a listener that throws doesn't break the emitter's own work or keep the other listeners from hearing, and
 * an `error` event that nobody listens to doesn't end the process. `once` and `on` of `node:events` work with it.
 */
export class SafeEmitter<Events extends EventMap<Events>> {
  readonly #registrations = new Map<keyof Events, readonly Registration[]>()
  readonly #onListenerFailure: ListenerFailure

  constructor(onListenerFailure: ListenerFailure = () => {}) {
    this.#onListenerFailure = onListenerFailure
  }

  on<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    return this.#add(event, { listener, once: false })
  }

  once<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    return this.#add(event, { listener, once: true })
  }

  /** Removes the listener; one that was added several times loses its latest registration. */
  off<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    const registrations = this.#registrations.get(event) ?? []
    const index = registrations.findLastIndex((registration) => registration.listener === listener)
    if (index >= 0) this.#registrations.set(event, registrations.toSpliced(index, 1))
    return this
  }

  /** The name under which `node:events` looks for {@link SafeEmitter.off}. */
  removeListener<Name extends keyof Events>(event: Name, listener: EventListener<Events[Name]>): this {
    return this.off(event, listener)
  }

  listenerCount(event: keyof Events): number {
    return this.#registrations.get(event)?.length ?? 0
  }

  /** Calls the listeners in the order they were added; never throws. Returns whether there was one. */
  emit<Name extends keyof Events>(event: Name, ...args: Events[Name]): boolean {
    // Registrations are replaced, never changed, so a listener may add or remove some meanwhile.
    const registrations = this.#registrations.get(event) ?? []
    for (const registration of registrations) {
      if (registration.once) this.#remove(event, registration)
      const listener = registration.listener as EventListener<Events[Name]>
      callSafely(
        () => listener(...args),
        (error) => this.#onListenerFailure(error, String(event)),
      )
    }
    return registrations.length > 0
  }

  #add(event: keyof Events, registration: Registration): this {
    this.#registrations.set(event, [...(this.#registrations.get(event) ?? []), registration])
    return this
  }

  #remove(event: keyof Events, gone: Registration): void {
    const left = this.#registrations.get(event)?.filter((registration) => registration !== gone)
    this.#registrations.set(event, left ?? [])
  }
}
