import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get } from './api.js'
import { type LiveEvent, useLive } from './live.js'

/** What was read, kept on the page while it is read anew. */
export interface Data<Value> {
  readonly value: Value | undefined
  readonly error: ApiError | undefined
  readonly loading: boolean
  readonly reload: () => void
}

/** Pages are read anew at most so often, in milliseconds. */
const AT_MOST_EVERY_MS = 1_000

/** Reads a path of the API, and again when `concerns` says that an event is about it. */
export function useData<Value>(path: string, concerns: (event: LiveEvent) => boolean = never): Data<Value> {
  const [state, setState] = useState<{ path: string; value?: Value; error?: ApiError; loading: boolean }>({
    path,
    loading: true,
  })
  const [turn, setTurn] = useState(0)
  const last = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const reload = useCallback(() => setTurn((n) => n + 1), [])

  useEffect(() => {
    const abort = new AbortController()
    setState((old) => (old.path === path ? { ...old, loading: true } : { path, loading: true }))
    last.current = performance.now()
    get<Value>(path, abort.signal)
      .then((value) => setState({ path, value, loading: false }))
      .catch((error: unknown) => {
        if (abort.signal.aborted) return
        const known = error instanceof ApiError ? error : new ApiError(0, { code: 'FAULT', message: String(error) })
        setState((old) => ({ ...old, error: known, loading: false }))
      })
    return () => abort.abort()
  }, [path, turn])

  useEffect(() => () => clearTimeout(timer.current), [])
  // What came while nobody saw the page was passed by.
  useEffect(() => {
    if (concerns === never) return
    const onVisible = (): void => {
      if (!document.hidden) reload()
    }
    document.addEventListener('visibilitychange', onVisible)
    return () => document.removeEventListener('visibilitychange', onVisible)
  }, [concerns, reload])
  useLive(
    useCallback(
      (event) => {
        if (!concerns(event) || document.hidden) return
        clearTimeout(timer.current)
        timer.current = setTimeout(reload, Math.max(0, last.current + AT_MOST_EVERY_MS - performance.now()))
      },
      [concerns, reload],
    ),
  )
  const current = state.path === path
  return {
    value: current ? state.value : undefined,
    error: current ? state.error : undefined,
    loading: state.loading,
    reload,
  }
}

function never(): boolean {
  return false
}
