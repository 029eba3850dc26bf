import type { TaskAction, TaskState } from '@pg-tasks/sql'
import type { TextKey } from '../../i18n/use-text.js'

/** What can be done, how it is called, and to which states it applies. */
export interface TaskVerb {
  readonly action: TaskAction
  readonly name: TextKey
  readonly help: TextKey
  readonly done: TextKey
  readonly states: readonly TaskState[]
  /** Whether something is lost by it. */
  readonly grave: boolean
}

export const TASK_VERBS: readonly TaskVerb[] = [
  {
    action: 'run_now',
    name: 'actionRunNow',
    help: 'helpRunNow',
    done: 'doneRunNow',
    states: ['scheduled'],
    grave: false,
  },
  { action: 'retry', name: 'actionRetry', help: 'helpRetry', done: 'doneRetry', states: ['running'], grave: false },
  {
    action: 'reset',
    name: 'actionReset',
    help: 'helpReset',
    done: 'doneReset',
    states: ['scheduled', 'ready', 'running', 'finished', 'failed', 'canceled'],
    grave: false,
  },
  {
    action: 'cancel',
    name: 'actionCancel',
    help: 'helpCancel',
    done: 'doneCancel',
    states: ['scheduled', 'ready', 'running'],
    grave: true,
  },
  {
    action: 'clean',
    name: 'actionClean',
    help: 'helpClean',
    done: 'doneClean',
    states: ['finished', 'failed', 'canceled'],
    grave: true,
  },
]
