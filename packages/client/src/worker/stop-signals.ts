/** Calls back at SIGTERM and SIGINT; a second signal ends the process as if nobody had listened. Returns how to stop that. */
export function onStopSignals(callback: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const
  const listeners = new Map<NodeJS.Signals, () => void>()
  const remove = (): void => {
    for (const [signal, listener] of listeners) process.off(signal, listener)
    listeners.clear()
  }
  for (const signal of signals) {
    const listener = (): void => {
      remove()
      callback(signal)
    }
    listeners.set(signal, listener)
    process.on(signal, listener)
  }
  return remove
}
