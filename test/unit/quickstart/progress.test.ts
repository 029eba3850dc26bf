import { describe, expect, it } from 'vitest'
import { Progress } from '../../../examples/quickstart/progress.js'

const GREEN = '\u001b[32m'

/** Writes down what a terminal, or a file, would get. */
function shown(isTTY: boolean, environment: NodeJS.ProcessEnv, use: (progress: Progress) => void): string {
  let text = ''
  const output = { isTTY, write: (piece: string) => (text += piece) }
  use(new Progress(output, environment))
  return text
}

describe('the progress of the quickstart', () => {
  it('is a bar that stays on one line of a terminal', () => {
    const text = shown(true, {}, (progress) => {
      progress.show(1, 3)
      progress.show(3, 3)
      progress.end()
    })
    expect(text.split('\r')).toHaveLength(2)
    expect(text).toContain(`${GREEN}${'█'.repeat(10)}\u001b[39m${'░'.repeat(20)}  33 %  1 of 3`)
    expect(text).toContain(`${'█'.repeat(30)}\u001b[39m 100 %  3 of 3\n`)
  })

  it('makes room for a line above the bar', () => {
    const text = shown(true, {}, (progress) => {
      progress.show(0, 2)
      progress.say('something happened')
      progress.show(1, 2)
    })
    expect(text).toContain('0 of 2\r\u001b[Ksomething happened\n')
    expect(text.split('\n')[1]).toMatch(/1 of 2$/)
  })

  it.each([[{ NO_COLOR: '1' }], [{ TERM: 'dumb' }]])('has no color with %j', (environment) => {
    expect(shown(true, environment, (progress) => progress.show(1, 2))).not.toContain(GREEN)
  })

  it('keeps its color where NO_COLOR is empty', () => {
    expect(shown(true, { NO_COLOR: '' }, (progress) => progress.show(1, 2))).toContain(GREEN)
  })

  it('is a line per quarter where there is no terminal', () => {
    const text = shown(false, {}, (progress) => {
      for (let done = 0; done <= 100; done += 1) progress.show(done, 100)
      progress.end()
    })
    expect(text).toBe(' 25 %  25 of 100\n 50 %  50 of 100\n 75 %  75 of 100\n100 %  100 of 100\n')
  })
})
