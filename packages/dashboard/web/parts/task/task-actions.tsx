import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import type { TaskAnswer } from '../../pages/task-page.js'
import { pathOf, post } from '../../state/api.js'
import { addressOf, go } from '../../state/router.js'
import { FormDialog } from '../form-dialog.js'
import { EditDialog } from './edit-dialog.js'
import { TASK_VERBS, type TaskVerb } from './task-verbs.js'

interface TaskActionsProps {
  readonly answer: TaskAnswer
  readonly onDone: () => void
}

/** What can be done to a task in its state. */
export function TaskActions({ answer, onDone }: TaskActionsProps) {
  const { say } = useText()
  const { task, type } = answer
  const [verb, setVerb] = useState<TaskVerb>()
  const [editing, setEditing] = useState(false)
  const path = `types/${pathOf(type.schema, type.table)}/tasks/${pathOf(task.id)}`
  const close = (): void => {
    setVerb(undefined)
    setEditing(false)
    onDone()
  }
  return (
    <div class="buttons">
      {(task.state === 'scheduled' || task.state === 'ready') && (
        <button type="button" onClick={() => setEditing(true)}>
          {say('actionEdit')}…
        </button>
      )}
      {TASK_VERBS.filter(({ states }) => states.includes(task.state)).map((one) => (
        <button key={one.action} type="button" class={one.grave ? 'grave' : undefined} onClick={() => setVerb(one)}>
          {say(one.name)}…
        </button>
      ))}
      {editing && <EditDialog path={path} answer={answer} onClose={close} />}
      {verb !== undefined && <VerbDialog path={path} answer={answer} verb={verb} onClose={close} />}
    </div>
  )
}

interface VerbDialogProps {
  readonly path: string
  readonly answer: TaskAnswer
  readonly verb: TaskVerb
  readonly onClose: () => void
}

function VerbDialog({ path, answer, verb, onClose }: VerbDialogProps) {
  const { say } = useText()
  const [comment, setComment] = useState('')
  const [forgetMarks, setForgetMarks] = useState(false)
  const { action } = verb
  const { type, task } = answer
  const run = async (): Promise<string> => {
    const { state } = await post<{ readonly state: string }>(`${path}/${action}`, { comment, forgetMarks })
    if (action === 'clean') go(addressOf(['types', type.schema, type.table]))
    const ended = state === 'finished' || state === 'failed' || state === 'canceled'
    return action === 'cancel' && ended ? say('wasAlready', { state: say(state) }) : say(verb.done)
  }
  return (
    <FormDialog
      title={`${say(verb.name)}: ${type.table} ${task.id}`}
      submit={say(verb.name)}
      grave={verb.grave}
      onClose={onClose}
      onSubmit={run}
    >
      <p>{say(verb.help)}</p>
      {(action === 'cancel' || action === 'retry') && (
        <div class="field">
          <label for="comment">{say('comment')}</label>
          <input id="comment" value={comment} onInput={(event) => setComment(event.currentTarget.value)} />
        </div>
      )}
      {action === 'reset' && task.marks.length > 0 && (
        <label class="check">
          <input type="checkbox" checked={forgetMarks} onChange={() => setForgetMarks(!forgetMarks)} />{' '}
          {say('forgetMarks')} ({task.marks.length})
        </label>
      )}
    </FormDialog>
  )
}
