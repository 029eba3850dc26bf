import type { Count, TaskState } from '@pg-tasks/sql'
import { useCallback, useState } from 'preact/hooks'
import type { OverviewType } from '../../server/overview.js'
import { useText } from '../i18n/use-text.js'
import { Figure } from '../parts/chart/figure.js'
import { Empty } from '../parts/empty.js'
import { ProblemText } from '../parts/problem-text.js'
import { TypeRow } from '../parts/type/type-row.js'
import { type LiveEvent, useLive } from '../state/live.js'
import { useData } from '../state/use-data.js'

const FIRST_TYPE = `create table tasks.send_mail (
  like tasks.template including defaults including identity including indexes,
  address text not null
);
select tasks.register('tasks', 'send_mail');`

const TOTALS: readonly TaskState[] = ['ready', 'running', 'scheduled', 'failed']

/** All task types at a glance. */
export function OverviewPage() {
  const { say } = useText()
  const { value, error, reload } = useData<{ readonly types: readonly OverviewType[] }>('overview')
  const [live, setLive] = useState<ReadonlyMap<string, OverviewType>>(new Map())
  useLive(
    useCallback(
      (event: LiveEvent) => {
        if (event === null) return
        setLive((old) => new Map([...old, ...event.map((type) => [keyOf(type), type] as const)]))
        // A type that wasn't there yet.
        if (value !== undefined && event.some((type) => !value.types.some((one) => keyOf(one) === keyOf(type))))
          reload()
      },
      [value, reload],
    ),
  )
  const types = value?.types.map((type) => live.get(keyOf(type)) ?? type)
  return (
    <>
      <h1>{say('overview')}</h1>
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      <dl class="totals">
        {TOTALS.map((state) => (
          <div key={state} class={`total state-${state}`}>
            <dt>{say(state)}</dt>
            <dd>{types === undefined ? '–' : <Figure of={sum(types, state)} />}</dd>
          </div>
        ))}
        <div class="total state-finished">
          <dt>{say('finishedLastHour')}</dt>
          <dd>{types === undefined ? '–' : <Figure of={sumLastHour(types)} />}</dd>
        </div>
      </dl>
      <section aria-labelledby="types" aria-busy={types === undefined}>
        <h2 id="types">{say('types')}</h2>
        {types === undefined ? (
          <div class="rows waiting" />
        ) : types.length === 0 ? (
          <Empty title={say('noTypes')} help={say('noTypesHelp')} code={FIRST_TYPE} />
        ) : (
          <ul class="rows">
            {types.map((type) => (
              <TypeRow key={keyOf(type)} type={type} />
            ))}
          </ul>
        )}
      </section>
    </>
  )
}

function keyOf({ schema, table }: OverviewType): string {
  return JSON.stringify([schema, table])
}

function sum(types: readonly OverviewType[], state: TaskState): Count {
  return add(types.flatMap(({ figures }) => (figures === null ? [] : [figures.states[state]])))
}

function sumLastHour(types: readonly OverviewType[]): Count {
  return add(types.flatMap(({ figures }) => figures?.finished ?? []))
}

function add(counts: readonly Count[]): Count {
  return { count: counts.reduce((total, { count }) => total + count, 0), about: counts.some(({ about }) => about) }
}
