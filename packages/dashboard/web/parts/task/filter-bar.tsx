import type { ColumnFamily, FilterOperator, TaskFilter } from '@pg-tasks/sql'
import { useState } from 'preact/hooks'
import type { ShownColumn } from '../../../server/column-rules.js'
import { formatFilter } from '../../format.js'
import { useText } from '../../i18n/use-text.js'
import { goWith, usePlace } from '../../state/router.js'

const ORDERED: readonly FilterOperator[] = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'empty', 'given']

/** As the server allows them. */
const OPERATORS: Readonly<Record<ColumnFamily, readonly FilterOperator[]>> = {
  number: ORDERED,
  time: ['lt', 'le', 'gt', 'ge', 'eq', 'ne', 'empty', 'given'],
  text: ['eq', 'ne', 'contains', 'starts', 'empty', 'given'],
  enum: ['eq', 'ne', 'empty', 'given'],
  boolean: ['eq', 'empty', 'given'],
  uuid: ['eq', 'ne', 'empty', 'given'],
  json: ['has', 'contains', 'empty', 'given'],
  array: ['has', 'contains', 'empty', 'given'],
  other: ['contains', 'empty', 'given'],
}

/** Filters of the query, and a form for another. */
export function FilterBar({ columns }: { readonly columns: readonly ShownColumn[] }) {
  const { say } = useText()
  const { query } = usePlace()
  const texts = query.getAll('filter')
  const without = (text: string): void => {
    goWith((next) => {
      next.delete('filter')
      next.delete('after')
      for (const other of texts) if (other !== text) next.append('filter', other)
    })
  }
  return (
    <div class="filters">
      {texts.map((text) => {
        const words = formatFilter(parse(text), say)
        return (
          <button
            key={text}
            type="button"
            class="chip"
            aria-label={say('removeFilter', { filter: words })}
            onClick={() => without(text)}
          >
            {words} <span aria-hidden="true">×</span>
          </button>
        )
      })}
      <AddFilter columns={columns.filter((column) => !column.masked)} />
    </div>
  )
}

function AddFilter({ columns }: { readonly columns: readonly ShownColumn[] }) {
  const { say } = useText()
  const own = columns.filter((column) => !column.template)
  const [name, setName] = useState(own[0]?.name ?? 'id')
  const [operator, setOperator] = useState<FilterOperator>()
  const [value, setValue] = useState('')
  const column = columns.find((one) => one.name === name)
  if (column === undefined) return null
  const operators = OPERATORS[column.family]
  const chosen = operator !== undefined && operators.includes(operator) ? operator : (operators[0] as FilterOperator)
  const needsValue = chosen !== 'empty' && chosen !== 'given'
  const choices = column.family === 'boolean' ? ['true', 'false'] : column.enumValues
  const add = (event: Event): void => {
    event.preventDefault()
    const given = choices !== null && value === '' ? (choices[0] ?? '') : value
    goWith((next) => {
      next.delete('after')
      next.append('filter', `${encodeURIComponent(name)}:${chosen}:${needsValue ? given : ''}`)
    })
    setValue('')
  }
  return (
    <form class="add-filter" onSubmit={add}>
      <select aria-label={say('column')} value={name} onChange={(event) => setName(event.currentTarget.value)}>
        <optgroup label={say('ownColumns')}>
          {own.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </optgroup>
        <optgroup label={say('queueColumns')}>
          {columns
            .filter((one) => one.template)
            .map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
        </optgroup>
      </select>
      <select
        aria-label={say('operator')}
        value={chosen}
        onChange={(event) => setOperator(event.currentTarget.value as FilterOperator)}
      >
        {operators.map((one) => (
          <option key={one} value={one}>
            {say(one)}
          </option>
        ))}
      </select>
      {needsValue &&
        (choices === null ? (
          <input
            aria-label={say('value')}
            value={value}
            required={column.family !== 'text'}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        ) : (
          <select
            aria-label={say('value')}
            value={value === '' ? choices[0] : value}
            onChange={(event) => setValue(event.currentTarget.value)}
          >
            {choices.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        ))}
      <button type="submit">{say('filter')}</button>
      <span class="hint">{say(column.indexed ? 'indexedHint' : 'unindexedHint')}</span>
    </form>
  )
}

function parse(text: string): TaskFilter {
  const [, column = '', operator = 'eq', value = ''] = /^([^:]+):([^:]+):?(.*)$/s.exec(text) ?? []
  return { column: decodeURIComponent(column), operator: operator as FilterOperator, value }
}
