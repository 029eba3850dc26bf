import { useState } from 'preact/hooks'
import { useText } from '../../i18n/use-text.js'
import type { TaskAnswer } from '../../pages/task-page.js'
import { patch } from '../../state/api.js'
import { FormDialog } from '../form-dialog.js'
import { ColumnFields, type FieldValues, fieldColumns } from './column-fields.js'

interface EditDialogProps {
  readonly path: string
  readonly answer: TaskAnswer
  readonly onClose: () => void
}

/** Changes columns of a waiting task; what wasn't touched isn't written. */
export function EditDialog({ path, answer, onClose }: EditDialogProps) {
  const { say } = useText()
  // A masked value never came here, so it can't be edited.
  const columns = fieldColumns(answer.columns, ['planned_to', 'priority', 'comment']).filter((column) => !column.masked)
  const before: FieldValues = Object.fromEntries(columns.map(({ name }) => [name, answer.task.values[name] ?? '']))
  const [first] = useState(before)
  const [values, setValues] = useState(before)
  const save = async (): Promise<string> => {
    const changed = Object.entries(values).filter(([name, value]) => value !== first[name])
    if (changed.length > 0) {
      await patch(path, {
        values: Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value])),
      })
    }
    return say('doneEdit')
  }
  return (
    <FormDialog
      title={say('editTitle', { id: answer.task.id })}
      submit={say('save')}
      wide
      onClose={onClose}
      onSubmit={save}
    >
      <p class="hint">{say('emptyIsNull')}</p>
      <ColumnFields columns={columns} values={values} onChange={setValues} require={false} idPrefix="edit" />
    </FormDialog>
  )
}
