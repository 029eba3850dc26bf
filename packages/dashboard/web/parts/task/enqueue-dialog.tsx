import { useState } from 'preact/hooks'
import type { ShownColumn } from '../../../server/column-rules.js'
import { useText } from '../../i18n/use-text.js'
import { post } from '../../state/api.js'
import { FormDialog } from '../form-dialog.js'
import { ColumnFields, type FieldValues, fieldColumns } from './column-fields.js'

interface EnqueueDialogProps {
  readonly path: string
  readonly name: string
  readonly columns: readonly ShownColumn[]
  readonly onClose: () => void
}

/** Enqueues a task by a form made from the table's columns. */
export function EnqueueDialog({ path, name, columns, onClose }: EnqueueDialogProps) {
  const { say } = useText()
  const [values, setValues] = useState<FieldValues>({})
  const fields = fieldColumns(columns, ['planned_to', 'priority'])
  const enqueue = async (): Promise<string> => {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    const { id } = await post<{ readonly id: string }>(`${path}/tasks`, { values: given })
    return say('enqueued', { id })
  }
  return (
    <FormDialog
      title={say('enqueueTitle', { type: name })}
      submit={say('enqueue')}
      wide
      onClose={onClose}
      onSubmit={enqueue}
    >
      <p class="hint">{say('leaveEmpty')}</p>
      <ColumnFields columns={fields} values={values} onChange={setValues} require idPrefix="enqueue" />
    </FormDialog>
  )
}
