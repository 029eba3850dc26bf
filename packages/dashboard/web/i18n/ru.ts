import type { en } from './en.js'
import { ruTasks } from './ru-tasks.js'
import { ruTypes } from './ru-types.js'

export const ru: Readonly<Record<keyof typeof en, string>> = { ...ruTypes, ...ruTasks }
