import { formatDuration } from './format.js'
import { painter } from './painter.js'

/** How far long work is. */
export interface Progress {
  /** Sets what is done, and what there is to do where that has become known. */
  update(done: number, total?: number): void
  /** Ends the bar; what was done stays on the screen. */
  end(): void
}

export interface ProgressOptions {
  readonly title: string
  /** What there is to do; undefined: not known. */
  readonly total?: number | undefined
  /** Writes a number for people. @defaultValue with thousands separators */
  readonly unit?: ((value: number) => string) | undefined
  /** @defaultValue true */
  readonly shown?: boolean | undefined
}

const DRAW_EVERY_MS = 80
const LINE_EVERY_MS = 2_000
const BAR_WIDTH = 28

/** A bar on a terminal's standard error; where that is piped, a line every two seconds and one at the end. */
export function startProgress({ title, total: all, unit = grouped, shown = true }: ProgressOptions): Progress {
  const { stderr } = process
  const paint = painter(stderr)
  const begun = performance.now()
  let total = all
  let done = 0
  let drawnAt = Number.NEGATIVE_INFINITY
  let ended = false
  const every = stderr.isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS

  const text = (): string => {
    const seconds = (performance.now() - begun) / 1000
    const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total)
    const bar = stderr.isTTY && share !== undefined ? `${drawBar(share)} ` : ''
    const percent = share === undefined ? '' : `${String(Math.floor(share * 100)).padStart(3)} %  `
    const count = total === undefined ? unit(done) : `${unit(done)} of ${unit(total)}`
    const left = share === undefined || share === 0 || share === 1 ? undefined : (seconds * (1 - share)) / share
    const time = left === undefined ? formatDuration(seconds * 1000) : `${formatDuration(left * 1000)} left`
    return `${title}  ${bar}${percent}${count}  ${paint.dim(time)}`
  }
  const drawBar = (share: number): string => {
    const full = Math.round(share * BAR_WIDTH)
    return paint.cyan('█'.repeat(full)) + paint.dim('░'.repeat(BAR_WIDTH - full))
  }
  const draw = (): void => {
    if (!shown) return
    stderr.write(stderr.isTTY ? `\r\u001b[K${text()}` : `${text()}\n`)
  }
  if (!stderr.isTTY) drawnAt = begun
  return {
    update(now, newTotal) {
      done = now
      total = newTotal ?? total
      if (performance.now() - drawnAt < every) return
      drawnAt = performance.now()
      draw()
    },
    end() {
      if (ended) return
      ended = true
      draw()
      if (shown && stderr.isTTY) stderr.write('\n')
    },
  }
}

function grouped(value: number): string {
  return value.toLocaleString('en-US')
}
