/** Lines between two of these shares of the work are left out where there is no terminal. */
const STEP = 0.25

const BAR_WIDTH = 30

/** Where progress is written to: a terminal, or anything else. */
export interface Output {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** Shows how far the work is: a bar that stays on one line of a terminal, a line now and then elsewhere. */
export class Progress {
  readonly #output: Output
  readonly #color: boolean
  #lastStep = 0
  #barShown = false

  constructor(output: Output, environment: NodeJS.ProcessEnv = process.env) {
    this.#output = output
    // https://no-color.org: set and not empty.
    this.#color = output.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb'
  }

  /** A line that stays; the bar goes on below it. */
  say(line: string): void {
    this.#clear()
    this.#output.write(`${line}\n`)
  }

  /** How many of how many. */
  show(done: number, total: number): void {
    const share = total === 0 ? 1 : done / total
    const text = `${String(Math.floor(share * 100)).padStart(3)} %  ${done} of ${total}`
    if (this.#output.isTTY) {
      this.#clear()
      this.#output.write(`${this.#bar(share)} ${text}`)
      this.#barShown = true
      return
    }
    const step = Math.floor(share / STEP)
    if (step > this.#lastStep) this.#output.write(`${text}\n`)
    this.#lastStep = Math.max(step, this.#lastStep)
  }

  /** The bar has shown its last and makes way for what follows. */
  end(): void {
    if (this.#barShown) this.#output.write('\n')
    this.#barShown = false
  }

  #bar(share: number): string {
    const full = Math.round(share * BAR_WIDTH)
    const bar = '█'.repeat(full)
    return `${this.#color ? `\u001b[32m${bar}\u001b[39m` : bar}${'░'.repeat(BAR_WIDTH - full)}`
  }

  #clear(): void {
    if (this.#barShown) this.#output.write('\r\u001b[K')
    this.#barShown = false
  }
}
