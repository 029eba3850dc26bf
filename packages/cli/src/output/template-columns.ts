import { tableColumns } from '@pg-tasks/sql'

/** Whether every task table has this column. */
export function isTemplateColumn(column: string): boolean {
  return Object.hasOwn(tableColumns['tasks.template'], column)
}
