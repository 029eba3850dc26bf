/** A terminal that shows one thing that changes. */
export interface Screen {
  draw(text: string): void
  /** Gives the terminal back; what was drawn last stays. */
  end(): void
}

/** Draws on a screen of its own, so that what was on the terminal before comes back. */
export function startScreen(): Screen {
  const { stdout } = process
  let last = ''
  stdout.write('\u001b[?1049h\u001b[?25l')
  return {
    draw(text) {
      last = text
      // Line by line over what was there: clearing first would flicker.
      const lines = text.split('\n').slice(0, (stdout.rows ?? 24) - 1)
      stdout.write(`\u001b[H${lines.map((line) => `${line}\u001b[K`).join('\n')}\u001b[J`)
    },
    end() {
      stdout.write(`\u001b[?25h\u001b[?1049l${last}`)
    },
  }
}
