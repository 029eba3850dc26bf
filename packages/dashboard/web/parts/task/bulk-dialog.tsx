import type { Count } from '@pg-tasks/sql'
import { useRef, useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import { postLines } from '../../state/api.js'
import { useData } from '../../state/use-data.js'
import { Dialog } from '../dialog.js'
import { ProblemText, problemText } from '../problem-text.js'
import type { TaskVerb } from './task-verbs.js'

/** A line of the server. */
interface Progress {
  readonly done: number
  readonly held: number
  readonly passedBy: number
  readonly refused: number
  readonly finished: boolean
  readonly problem?: string
}

interface BulkDialogProps {
  readonly path: string
  readonly selection: URLSearchParams
  readonly verb: TaskVerb
  readonly onClose: () => void
}

/** Says how many tasks it is about, then how far it is; it can be stopped. */
export function BulkDialog({ path, selection, verb, onClose }: BulkDialogProps) {
  const { say, language } = useText()
  const preview = useData<Count>(`${path}/bulk?${selection}`)
  const [progress, setProgress] = useState<Progress>()
  const [problem, setProblem] = useState<string>()
  const running = useRef<AbortController>(undefined)
  const [busy, setBusy] = useState(false)
  const start = async (): Promise<void> => {
    const abort = new AbortController()
    running.current = abort
    setBusy(true)
    try {
      for await (const line of postLines<Progress>(`${path}/bulk/${verb.action}?${selection}`, abort.signal)) {
        setProgress(line)
        if (line.problem !== undefined) setProblem(line.problem)
      }
    } catch (error) {
      if (!abort.signal.aborted) setProblem(problemText(error, say))
    } finally {
      setBusy(false)
    }
  }
  const count = preview.value
  const n = count?.count.toLocaleString(language) ?? ''
  const handled = progress === undefined ? 0 : progress.done + progress.held + progress.passedBy + progress.refused
  return (
    <Dialog
      title={say('bulkTitle', { action: say(verb.name) })}
      onClose={() => {
        running.current?.abort()
        onClose()
      }}
    >
      <p>{say(verb.help)}</p>
      {preview.error !== undefined && <ProblemText error={preview.error} onRetry={preview.reload} />}
      <p class="preview" role="status">
        {count === undefined
          ? say('bulkCounting')
          : count.about
            ? say('bulkCountAbout', { n })
            : say('bulkCount', { n: count.count })}
      </p>
      <progress
        value={progress?.finished === true ? 1 : Math.min(handled, count?.count ?? 0)}
        max={progress?.finished === true ? 1 : Math.max(1, count?.count ?? 1)}
        aria-label={say('bulkDone')}
      />
      <dl class="progress-figures" aria-live="polite">
        <Part name={say('bulkDone')} n={progress?.done ?? 0} />
        <Part name={say('bulkHeld')} n={progress?.held ?? 0} />
        <Part name={say('bulkPassed')} n={progress?.passedBy ?? 0} />
        <Part name={say('bulkRefused')} n={progress?.refused ?? 0} />
      </dl>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {progress?.finished === true && <p role="status">{say('bulkFinished')}</p>}
      <div class="buttons">
        <button type="button" onClick={(event) => event.currentTarget.closest('dialog')?.close()}>
          {say(progress === undefined ? 'cancelDialog' : 'close')}
        </button>
        {busy ? (
          <button type="button" onClick={() => running.current?.abort()}>
            {say('bulkStop')}
          </button>
        ) : (
          progress === undefined && (
            <button
              type="button"
              class={verb.grave ? 'primary grave' : 'primary'}
              disabled={count === undefined || count.count === 0}
              onClick={() => void start()}
            >
              {say('bulkStart')}
            </button>
          )
        )}
      </div>
    </Dialog>
  )
}

function Part({ name, n }: { readonly name: string; readonly n: number }) {
  const { language } = useText()
  return (
    <div>
      <dt>{name}</dt>
      <dd class="num">{n.toLocaleString(language)}</dd>
    </div>
  )
}
