import type { TaskState } from '@pg-tasks/sql'
import type { Painter } from './painter.js'

/** The colour of a state. */
export function paintState(paint: Painter, state: TaskState): (text: string) => string {
  switch (state) {
    case 'scheduled':
      return paint.magenta
    case 'ready':
      return paint.cyan
    case 'running':
      return paint.yellow
    case 'finished':
      return paint.green
    case 'failed':
      return paint.red
    case 'canceled':
      return paint.dim
  }
}
