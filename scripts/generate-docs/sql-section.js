import { code, table } from './table.js'

/**
 * What the catalogue and the comments in it say of the schema `tasks`.
 *
 * @param kind - `verbs`: the functions of a task type; `functions`: the others that users call; `relations`: tables and
 * views; `columns`: those of one of them
 */
export async function sqlSection(client, kind, ...words) {
  switch (kind) {
    case 'verbs':
      return verbs(client)
    case 'functions':
      return functions(client)
    case 'relations':
      return relations(client)
    case 'columns':
      return columns(client, words[0])
    default:
      throw new Error(`There is no section "${kind}"`)
  }
}

/** Not of the queue: the task type that the script registers to see its functions. */
const SAMPLE = 'tasks_do_something'

async function verbs(client) {
  const { rows } = await client.query(
    `select p.proname as name, pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result,
       regexp_replace(obj_description(s.oid, 'pg_proc'), '^Source of \\w+: ', '') as comment
     from pg_proc p
     left join pg_proc s on s.pronamespace = p.pronamespace and s.proname = 'source_of_' || replace(p.proname, '_' || $1, '')
     where p.pronamespace = 'tasks'::regnamespace and p.proname like '%\\_' || $1
     order by p.oid`,
    [SAMPLE],
  )
  return table(['function', 'returns', ''], rows.sort((a, b) => place(a) - place(b)).map(functionRow))
}

/** In the order of a task's life; those that only workers call come last. */
const ORDER = ['acquire', 'finish', 'retry', 'cancel', 'reset', 'clean', 'clean_before', 'release']

function place({ name }) {
  const index = ORDER.indexOf(name.replace(`_${SAMPLE}`, ''))
  return index < 0 ? ORDER.length : index
}

/** Called by users although their arguments are named `p_…`, as those of functions inside are, or have no names. */
const TO_CALL =
  /^(adopt|backoff|begin_step|clock|count_states|describe|elapsed|enqueue|failed_tasks|idempotency_key|is_running|maintain|mark_step|refresh|reset_failed|state|upgrade)$/

async function functions(client) {
  const { rows } = await client.query(
    `select p.proname as name, pg_get_function_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as result,
       obj_description(p.oid, 'pg_proc') as comment
     from pg_proc p
     where p.pronamespace = 'tasks'::regnamespace and p.proname not like '%\\_' || $1
     order by p.proname`,
    [SAMPLE],
  )
  return table(['function', 'returns', ''], rows.filter(isToCall).map(functionRow))
}

function isToCall({ name, arguments: given, result }) {
  if (TO_CALL.test(name)) return true
  return result !== 'trigger' && given !== '' && !/(^|, )p_/.test(given)
}

function functionRow({ name, arguments: given, result, comment }) {
  return [code(`${name}(${readable(given)})`), code(readable(result)), upperFirst(comment ?? '')]
}

async function relations(client) {
  const { rows } = await client.query(
    `select c.relname as name, case c.relkind when 'v' then 'view' else 'table' end as kind, obj_description(c.oid, 'pg_class') as comment
     from pg_class c
     where c.relnamespace = 'tasks'::regnamespace and c.relkind in ('r', 'v', 'p') and not c.relispartition
       and c.relname not in ('do_something', 'stats_of_' || $1)
     order by c.relname`,
    [SAMPLE],
  )
  return table(
    ['name', 'kind', ''],
    rows.map(({ name, kind, comment }) => [code(name), kind, comment ?? '']),
  )
}

async function columns(client, relation) {
  const { rows } = await client.query(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
       pg_get_expr(d.adbin, d.adrelid) as standard, a.attidentity <> '' as identity, col_description(a.attrelid, a.attnum) as comment
     from pg_attribute a
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
     order by a.attnum`,
    [`tasks.${relation}`],
  )
  return table(
    ['column', 'type', 'default', ''],
    rows.map((row) => [code(row.name), code(readable(row.type)), defaultOf(row), row.comment ?? '']),
  )
}

function defaultOf({ required, standard, identity }) {
  if (identity) return 'identity'
  if (standard !== null) return code(readable(standard))
  return required ? 'required' : ''
}

function readable(text) {
  return text
    .replaceAll('timestamp with time zone', 'timestamptz')
    .replaceAll(/::(interval|integer|uuid|jsonb|text\[\]|text|bigint|timestamptz|double precision|regclass)/g, '')
    .replaceAll(' DEFAULT ', ' default ')
    .replaceAll('default NULL', 'default null')
}

function upperFirst(text) {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
