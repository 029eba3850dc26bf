import type { StoredSchedule } from '@pg-tasks/sql'
import { useState } from 'preact/hooks'
import type { OverviewType } from '../../../server/overview.js'
import { useText } from '../../i18n/use-text.js'
import type { TypeAnswer } from '../../pages/type-page.js'
import { pathOf, put } from '../../state/api.js'
import { useData } from '../../state/use-data.js'
import { FormDialog } from '../form-dialog.js'
import { ColumnFields, type FieldValues, fieldColumns } from '../task/column-fields.js'
import { ScheduleFields, type ScheduleForm, timingOf } from './schedule-fields.js'
import { SchedulePreview } from './schedule-preview.js'
import { jsonValues, textValues } from './schedule-values.js'

interface ScheduleDialogProps {
  /** The one to edit; none: a new one. */
  readonly schedule?: StoredSchedule
  readonly onClose: () => void
}

/** Writes a schedule: when, for which type, with which columns. */
export function ScheduleDialog({ schedule, onClose }: ScheduleDialogProps) {
  const { say } = useText()
  const types = useData<{ readonly types: readonly OverviewType[] }>('overview')
  const [form, setForm] = useState<ScheduleForm>({
    key: schedule?.key ?? '',
    type: schedule === undefined ? '' : JSON.stringify([schedule.schema, schedule.table]),
    kind: schedule?.everyMs !== null && schedule !== undefined ? 'every' : 'cron',
    cron: schedule?.cron ?? '0 3 * * *',
    everySeconds: String((schedule?.everyMs ?? 60_000) / 1_000),
    timezone: schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    catchUp: schedule?.catchUp ?? 'latest',
    overlap: schedule?.overlap ?? 'allow',
  })
  const choices = types.value?.types.map(({ schema, table }) => JSON.stringify([schema, table])) ?? []
  const type = form.type === '' ? choices[0] : form.type
  const [schema, table] = type === undefined ? ['', ''] : (JSON.parse(type) as [string, string])
  const [values, setValues] = useState<FieldValues>(textValues(schedule?.columns ?? {}))
  const answer = useData<TypeAnswer>(type === undefined ? 'session' : `types/${pathOf(schema, table)}`)
  const columns = fieldColumns(answer.value?.columns ?? [], ['priority'])
  const save = async (): Promise<string> => {
    await put(`schedules/${pathOf(form.key)}`, {
      schema,
      table,
      timing: timingOf(form, schedule),
      columns: jsonValues(values, columns),
    })
    return say('saved')
  }
  const title = schedule === undefined ? say('newSchedule') : say('editSchedule', { key: schedule.key })
  return (
    <FormDialog title={title} submit={say('save')} wide onClose={onClose} onSubmit={save}>
      <ScheduleFields
        form={{ ...form, type: type ?? '' }}
        choices={choices}
        isNew={schedule === undefined}
        onChange={setForm}
      />
      <SchedulePreview form={form} stored={schedule} />
      <h3>{say('values')}</h3>
      <ColumnFields columns={columns} values={values} onChange={setValues} require idPrefix="schedule" />
    </FormDialog>
  )
}
