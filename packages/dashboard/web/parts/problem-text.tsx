import { isTextKey, type Say, useText } from '../i18n/use-text.js'
import { ApiError } from '../state/api.js'

/** What went wrong, in the page's language where it has words for it. */
export function problemText(error: unknown, say: Say): string {
  if (!(error instanceof ApiError)) return String(error)
  const key = `error${error.problem.code}`
  const text = isTextKey(key) ? say(key) : error.problem.message
  return error.problem.hint === undefined ? text : `${text} ${error.problem.hint}`
}

/** A failure in the place of what can't be shown. */
export function ProblemText({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { say } = useText()
  return (
    <div class="problem" role="alert">
      <p>{problemText(error, say)}</p>
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {say('tryAgain')}
        </button>
      )}
    </div>
  )
}
