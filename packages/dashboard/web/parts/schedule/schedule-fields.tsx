import type { StoredSchedule } from '@pg-tasks/sql'
import { useText } from '../../i18n/use-text.js'

/** A schedule as the form has it. */
export interface ScheduleForm {
  readonly key: string
  /** Schema and table as JSON. */
  readonly type: string
  readonly kind: 'cron' | 'every'
  readonly cron: string
  readonly everySeconds: string
  readonly timezone: string
  readonly catchUp: StoredSchedule['catchUp']
  readonly overlap: StoredSchedule['overlap']
}

interface ScheduleFieldsProps {
  readonly form: ScheduleForm
  readonly choices: readonly string[]
  readonly isNew: boolean
  readonly onChange: (form: ScheduleForm) => void
}

const CATCH_UP = { latest: 'catchUpLatest', none: 'catchUpNone', all: 'catchUpAll' } as const
const OVERLAP = { allow: 'overlapAllow', skip: 'overlapSkip', buffer_one: 'overlapBuffer' } as const

/** When a schedule is due, and what it does about missed occurrences. */
export function ScheduleFields({ form, choices, isNew, onChange }: ScheduleFieldsProps) {
  const { say } = useText()
  const set = (change: Partial<ScheduleForm>): void => onChange({ ...form, ...change })
  return (
    <div class="fields">
      <div class="field">
        <label for="schedule-key">{say('key')}</label>
        <input
          id="schedule-key"
          required
          disabled={!isNew}
          value={form.key}
          onInput={(event) => set({ key: event.currentTarget.value })}
        />
      </div>
      <div class="field">
        <label for="schedule-type">{say('type')}</label>
        <select id="schedule-type" value={form.type} onChange={(event) => set({ type: event.currentTarget.value })}>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {(JSON.parse(choice) as string[]).join('.')}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="schedule-kind">{say('kind')}</label>
        <select
          id="schedule-kind"
          value={form.kind}
          onChange={(event) => set({ kind: event.currentTarget.value as ScheduleForm['kind'] })}
        >
          <option value="cron">{say('cron')}</option>
          <option value="every">{say('interval')}</option>
        </select>
      </div>
      {form.kind === 'cron' ? (
        <>
          <div class="field">
            <label for="schedule-cron">{say('cron')}</label>
            <input
              id="schedule-cron"
              class="mono"
              required
              value={form.cron}
              onInput={(event) => set({ cron: event.currentTarget.value })}
            />
          </div>
          <div class="field">
            <label for="schedule-zone">{say('zone')}</label>
            <input
              id="schedule-zone"
              required
              value={form.timezone}
              onInput={(event) => set({ timezone: event.currentTarget.value })}
            />
          </div>
        </>
      ) : (
        <div class="field">
          <label for="schedule-every">
            {say('interval')} ({say('seconds')})
          </label>
          <input
            id="schedule-every"
            type="number"
            min="1"
            step="1"
            required
            value={form.everySeconds}
            onInput={(event) => set({ everySeconds: event.currentTarget.value })}
          />
        </div>
      )}
      <div class="field">
        <label for="schedule-catch-up">{say('catchUp')}</label>
        <select
          id="schedule-catch-up"
          value={form.catchUp}
          onChange={(event) => set({ catchUp: event.currentTarget.value as ScheduleForm['catchUp'] })}
        >
          {Object.entries(CATCH_UP).map(([value, key]) => (
            <option key={value} value={value}>
              {say(key)}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="schedule-overlap">{say('overlap')}</label>
        <select
          id="schedule-overlap"
          value={form.overlap}
          onChange={(event) => set({ overlap: event.currentTarget.value as ScheduleForm['overlap'] })}
        >
          {Object.entries(OVERLAP).map(([value, key]) => (
            <option key={value} value={value}>
              {say(key)}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}

/** The form as the server takes it; what the form has no field for stays as it is stored. */
export function timingOf(form: ScheduleForm, stored?: StoredSchedule): Record<string, unknown> {
  const cadence =
    form.kind === 'cron'
      ? { cron: form.cron, timezone: form.timezone }
      : {
          everyMs: Number(form.everySeconds) * 1_000,
          ...(stored?.anchor === null || stored === undefined ? {} : { anchor: stored.anchor }),
        }
  const kept =
    stored === undefined
      ? {}
      : {
          catchUpWindowMs: stored.catchUpWindowMs,
          graceMs: stored.graceMs,
          jitterMs: stored.jitterMs,
          startsAt: stored.startsAt,
          endsAt: stored.endsAt,
          maxRuns: stored.maxRuns,
        }
  return { ...kept, ...cadence, catchUp: form.catchUp, overlap: form.overlap }
}
