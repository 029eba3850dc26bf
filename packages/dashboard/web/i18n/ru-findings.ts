import type { FindingCode } from '@pg-tasks/sql'
import type { FindingFacts } from './finding-words.js'

/** What a finding says. Without a remedy of its own it has the doctor's, which is a statement. */
export interface FindingWords {
  readonly subject?: string
  readonly problem: string
  readonly remedy?: string
}

const MIGRATE = 'Примените их: pg-tasks migrate или migrate(connection).'
const OTHER_VERSION = 'Возьмите версию pg-tasks, которой мигрирована база данных, или более новую.'
const START_WORKER = 'Запустите воркер этого типа'

/** The doctor's findings. */
export const ruFindings: Readonly<Record<FindingCode, (of: FindingFacts) => FindingWords>> = {
  not_permitted: (of) => ({
    problem: `Эта проверка не смогла посмотреть: ${of('message')}.`,
    remedy: `Спросите от роли, которой можно читать схему tasks: select tasks.grant_to('<роль>', 'operator', '<схема>', '<таблица>').`,
  }),
  schema_missing: () => ({
    problem: 'В базе данных нет схемы pg-tasks.',
    remedy: 'Примените миграции: pg-tasks migrate или migrate(connection).',
  }),
  migrations_pending: (of) => ({
    problem: `В базе данных нет миграций этой версии: ${of('pending')}.`,
    remedy: MIGRATE,
  }),
  database_newer: (of) => ({
    problem: `В базе данных есть миграция ${of('migration')}, которой эта версия pg-tasks не знает и с которой не должна работать.`,
    remedy: OTHER_VERSION,
  }),
  migration_changed: (of) => ({
    problem: `Миграция ${of('migration')} не та, что применена в базе данных: выпущенная миграция не меняется.`,
    remedy: OTHER_VERSION,
  }),
  table_gone: (of) => ({ problem: `Тип ${of('subject')} зарегистрирован, а таблицы нет.` }),
  functions_stale: (of) => ({
    problem: `Функции типа ${of('subject')} не этой версии или не с его нынешним именем.`,
  }),
  table_unregistered: (of) => ({
    problem: `У ${of('subject')} столбцы таблицы задач, но она не зарегистрирована: её задачи никто не выполняет.`,
  }),
  type_not_registered: (of) => ({
    problem: `В коде есть тип задач ${of('subject')}, который здесь не зарегистрирован.`,
    remedy: `Создайте его таблицу и зарегистрируйте её: ${of('statement')}`,
  }),
  columns_missing: (of) => ({
    problem: `В ${of('subject')} нет столбцов, которых ждёт код: ${of('missing')}.`,
    remedy: 'Примените миграцию, которая их добавляет, или создайте типы заново: pg-tasks types generate.',
  }),
  columns_required: (of) => ({
    problem: `${of('subject')} требует столбцов, которых код не знает: ${of('required')}. Поставить задачу он не может.`,
    remedy: 'Дайте им значение по умолчанию или создайте типы заново: pg-tasks types generate.',
  }),
  column_missing: (of) => ({ problem: `${of('subject')}: нет столбца ${of('column')} (${of('type')}).` }),
  column_type: (of) => ({
    problem: `${of('subject')}: столбец ${of('column')} имеет тип ${of('type')}, в шаблоне — ${of('expected')}.`,
    remedy: 'Переименуйте свой столбец или измените его тип.',
  }),
  column_generated: (of) => ({
    problem: `${of('subject')}: столбец ${of('column')} вычисляемый.`,
    remedy: 'Переименуйте свой столбец.',
  }),
  column_without_default: (of) => ({
    problem: `${of('subject')}: у столбца ${of('column')} нет значения по умолчанию.`,
  }),
  column_nullable: (of) => ({ problem: `${of('subject')}: столбец ${of('column')} может быть NULL.` }),
  id_not_unique: (of) => ({ problem: `${of('subject')}: id не уникален.` }),
  priority_unchecked: (of) => ({ problem: `${of('subject')}: приоритет не проверяется.` }),
  storage_parameter_unset: (of) => ({
    problem: `${of('subject')}: не задан параметр хранения ${of('parameter')}.`,
  }),
  trigger_missing: (of) => ({ problem: `${of('subject')}: нет триггера ${of('trigger')}.` }),
  trigger_unwanted: (of) => ({ problem: `${of('subject')}: есть лишний триггер ${of('trigger')}.` }),
  shape_differs: (of) => ({ problem: `${of('subject')} отличается от шаблона: ${of('problem')}.` }),
  index_missing: (of) => ({ problem: `${of('subject')}: нет индекса ${of('index')}.` }),
  index_invalid: (of) => ({
    problem: `Индекс ${of('index')} недействителен: в него пишут, но его не читают. CREATE INDEX CONCURRENTLY не удался.`,
  }),
  setting_off: (of) => ({
    problem: `Настройка сервера ${of('setting')} выключена: мёртвые строки остаются, и каждая выборка задач проходит по ним.`,
  }),
  autovacuum_off: (of) => ({
    problem: `Автоочистка выключена для ${of('subject')}: мёртвые строки остаются, и каждая выборка задач проходит по ним.`,
  }),
  dead_rows: (of) => ({
    problem: `В ${of('subject')} мёртвых строк: ${of('dead')}, живых: ${of('live')}. Автоочистка не успевает.`,
  }),
  dead_rows_held: (of) => ({
    problem: `В ${of('subject')} мёртвых строк: ${of('dead')}. Удалить их нельзя: ${holderOf(of)}.`,
    ...remedyOf(of),
  }),
  snapshot_old: (of) => ({
    subject: subjectOf(of),
    problem: `Мёртвые строки нельзя удалить: ${holderOf(of)}. Пока их мало.`,
    ...remedyOf(of),
  }),
  queue_filling: (of) => ({
    problem: `Очередь уведомлений заполнена на ${Math.round(100 * Number(of.details.use))} %; от половины задачи находят только опросом.`,
    remedy:
      'Сеанс, выполнивший LISTEN, в долгой транзакции или ничего не читает; сервер пишет его pid в журнал (pg_notify). Завершите его: select pg_terminate_backend(<pid>).',
  }),
  clock_offset: (of) => ({
    problem: `Часы этой машины ${Number(of.details.offsetMs) > 0 ? 'отстают от часов' : 'спешат против часов'} базы данных на ${Math.abs(Number(of.details.offsetMs))} мс; настолько же неверно то, что она вычисляет для planned_to.`,
    remedy:
      'Синхронизируйте их (NTP) или задавайте задержку, а не время: enqueue(…, { delayMs }). Что пора выполнять, решает в любом случае база данных.',
  }),
  clock_replaced: (of) => ({
    problem: `tasks.clock() расходится с часами сервера на ${of('movedMs')}: функцию заменили.`,
  }),
  leases_expired: (of) => ({
    problem: `Выполняемые задачи ${of('subject')} потеряли воркер: ${of('tasks')}, первая — ${of('overMs')} назад.`,
    remedy: `${START_WORKER}: он вернёт их. Или вручную: ${of('statement')}`,
  }),
  tasks_overdue: (of) => ({
    problem: `Задача ${of('subject')} ждёт уже ${of('lateMs')}: воркеры не успевают (${of('workers')}).`,
    remedy: 'Увеличьте число одновременных задач, запустите больше процессов или снимите ограничение типа.',
  }),
  type_unserved: (of) => ({
    problem: `Задача ${of('subject')} ждёт уже ${of('lateMs')}, и ни один воркер не обслуживает этот тип.`,
    remedy: `${START_WORKER}: pg-tasks worker <модуль>.`,
  }),
  tasks_failed: (of) => ({
    problem: `Задач ${of('subject')} с окончательным сбоем: ${of('failed')}${of('lastError') === '' ? '.' : `, последняя с ошибкой: ${of('lastError')}`}`,
    remedy: `Посмотреть: ${of('list')}; выполнить снова: ${of('reset')}; удалить: ${of('clean')}`,
  }),
  type_paused: (of) => ({
    problem: `Тип ${of('subject')} на паузе${of('reason') === '' ? '' : ` (${of('reason')})`}: его задачи ждут.`,
    remedy: `Когда можно продолжать: ${of('resume')}`,
  }),
  keys_broken: (of) => ({
    problem: `limit_keys держит порядок задач ${of('subject')} по столбцам ${of('columns')}, которых или индекса которых больше нет: ни одна задача этого типа не берётся.`,
  }),
  unique_broken: (of) => ({
    problem: `Задачи ${of('subject')} были уникальны по ${of('columns')}; индекса нет — удалён столбец или сам индекс, — и они больше не уникальны.`,
  }),
  schedule_error: (of) => ({
    problem: `У расписания ${of('subject')} была ошибка: ${of('error')}`,
    remedy: `Исправьте названное, затем: ${of('resume')}`,
  }),
  schedule_set_aside: (of) => ({
    problem: `Расписание ${of('subject')} отложено из-за ошибки: ${of('error')}`,
    remedy: `Исправьте названное, затем: ${of('resume')}`,
  }),
  schedule_late: (of) => ({
    problem: `Расписание ${of('subject')} ждёт уже ${of('lateMs')}, и ни один воркер на него не смотрит.`,
    remedy: 'Запустите воркер: планировщик есть в любом.',
  }),
  pooler: () => ({
    problem:
      'Перед сервером стоит пул соединений в режиме транзакций: уведомления через него не приходят, блокировки сеанса не держатся.',
    remedy:
      'Дайте воркерам прямой адрес для их собственных соединений: new Worker({ …, listenerConnectionString }), или включите в пуле режим сеансов.',
  }),
  not_delivered: (of) => ({
    problem: `Уведомление не пришло за ${of('timeoutMs')}: задачи находят только опросом.`,
    remedy:
      'Поищите пул соединений или прокси между этой машиной и сервером; дайте воркерам прямой адрес (listenerConnectionString).',
  }),
  listen_refused: (of) => ({
    problem: `LISTEN или NOTIFY отклонены: ${of('message')}.`,
    remedy:
      of('code') === '25006'
        ? 'Это реплика: подключитесь к основному серверу.'
        : 'См. сообщение; без LISTEN задачи находят только опросом.',
  }),
}

interface Holder {
  readonly kind: 'session' | 'prepared transaction' | 'replication slot'
  readonly name: string
  readonly owner: string | null
  readonly context: string | null
  readonly transactions: number | null
}

function holderOf(of: FindingFacts): string {
  const { kind, name, owner, context, transactions } = of.details.holder as Holder
  const age = of('ageMs')
  switch (kind) {
    case 'session':
      return `сеанс ${name} (${[owner ?? 'сервер', context].filter(Boolean).join(', ')}) держит транзакцию открытой ${age}`
    case 'prepared transaction':
      return `подготовленная транзакция ${name} роли ${owner} открыта ${age}`
    case 'replication slot':
      return `слот репликации ${name} удерживает транзакций: ${transactions}`
  }
}

function subjectOf(of: FindingFacts): string {
  const { kind, name } = of.details.holder as Holder
  const kinds = {
    session: 'сеанс',
    'prepared transaction': 'подготовленная транзакция',
    'replication slot': 'слот репликации',
  }
  return `${kinds[kind]} ${name}`
}

/** For a prepared transaction the doctor's own will do: two statements. */
function remedyOf(of: FindingFacts): { readonly remedy?: string } {
  const { kind, name } = of.details.holder as Holder
  switch (kind) {
    case 'session':
      return {
        remedy: `Завершите транзакцию или сеанс: select pg_terminate_backend(${name}); меньший idle_in_transaction_session_timeout предотвращает это.`,
      }
    case 'replication slot':
      return {
        remedy: `Дайте получателю догнать или удалите слот: select pg_drop_replication_slot('${name}');`,
      }
    case 'prepared transaction':
      return {}
  }
}
