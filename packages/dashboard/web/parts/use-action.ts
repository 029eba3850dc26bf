import { useCallback, useState } from 'preact/hooks'
import { useText } from '../i18n/use-text.js'
import { toast } from '../state/toasts.js'
import { problemText } from './problem-text.js'

/** Runs an action once at a time, and says what came of it. */
export function useAction(): {
  readonly busy: boolean
  readonly act: (work: () => Promise<string>) => Promise<boolean>
} {
  const [busy, setBusy] = useState(false)
  const { say } = useText()
  const act = useCallback(
    async (work: () => Promise<string>): Promise<boolean> => {
      setBusy(true)
      try {
        toast(await work())
        return true
      } catch (error) {
        toast(problemText(error, say), true)
        return false
      } finally {
        setBusy(false)
      }
    },
    [say],
  )
  return { busy, act }
}
