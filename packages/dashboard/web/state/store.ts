import { useEffect, useState } from 'preact/hooks'

/** A value that parts of the page share. */
export interface Store<Value> {
  get(): Value
  set(value: Value): void
  subscribe(listener: () => void): () => void
}

export function createStore<Value>(initial: Value): Store<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** The store's value; the component is rendered anew when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(store.get())
  useEffect(() => {
    setValue(store.get())
    return store.subscribe(() => setValue(store.get()))
  }, [store])
  return value
}
