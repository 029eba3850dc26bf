import { enTasks } from './en-tasks.js'
import { enTypes } from './en-types.js'

/** Every text of the page. `{name}` is filled in; forms of a number stand between bars. */
export const en = { ...enTypes, ...enTasks } as const
