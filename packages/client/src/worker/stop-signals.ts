/**
 * Within this, a second signal is the first one once more, in milliseconds: Ctrl-C goes to every process of the terminal, and
 * a `tsx` or `npm` above this one passes on what it got.
 */
const SAME_SIGNAL_MS = 500

/**
 * Calls back at SIGTERM and SIGINT; a second signal ends the process as if nobody had listened, unless it is an echo of the
 * first. Returns how to stop that.
 */
export function onStopSignals(callback: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const
  const listeners = new Map<NodeJS.Signals, () => void>()
  let echoes: NodeJS.Timeout | undefined
  const remove = (): void => {
    clearTimeout(echoes)
    for (const [signal, listener] of listeners) process.off(signal, listener)
    listeners.clear()
  }
  for (const signal of signals) {
    const listener = (): void => {
      if (echoes !== undefined) return
      echoes = setTimeout(remove, SAME_SIGNAL_MS).unref()
      callback(signal)
    }
    listeners.set(signal, listener)
    process.on(signal, listener)
  }
  return remove
}
