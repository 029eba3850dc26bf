import { describe, expect, it } from 'vitest'
import { describeThrown } from '../../../packages/client/src/errors/describe-thrown.js'

const NUL = '\u0000'

/** What PostgreSQL takes as a text, whatever was thrown. */
function expectStorable(text: string, maxBytes = 8192): void {
  expect(text).not.toContain(NUL)
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes)
  expect(Buffer.from(text).toString()).toBe(text)
  expect(text).not.toBe('')
}

function circular(): object {
  const object: Record<string, unknown> = { name: 'ring' }
  object.self = object
  return object
}

const hostile: Record<string, unknown> = {
  undefined: undefined,
  null: null,
  'an empty text': '',
  zero: 0,
  'a bigint': 10n ** 40n,
  'a symbol': Symbol('s'),
  'a function': () => {},
  'an object without prototype': Object.create(null),
  'a circular object': circular(),
  'an object whose getter throws': {
    get secret() {
      throw new Error('no')
    },
  },
  'an object whose toString throws': {
    toString() {
      throw new Error('no')
    },
  },
  'an object that throws when it is inspected': {
    [Symbol.for('nodejs.util.inspect.custom')]() {
      throw new Error('no')
    },
  },
  'a proxy that throws at everything': new Proxy(
    {},
    Object.fromEntries(
      ['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor'].map((trap) => [
        trap,
        () => {
          throw new Error('no')
        },
      ]),
    ),
  ),
  'a revoked proxy': (() => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  })(),
  'an error whose message throws': Object.defineProperty(new Error('x'), 'message', {
    get() {
      throw new Error('no')
    },
  }),
  'an error whose message is no text': Object.assign(new Error('x'), { message: { nested: true }, stack: 7 }),
  'an error that is its own cause': (() => {
    const error = new Error('ring')
    error.cause = error
    return error
  })(),
  'an AggregateError of itself': (() => {
    const error = new AggregateError([], 'ring')
    error.errors.push(error)
    return error
  })(),
  'a text with a NUL': `a${NUL}b`,
  'halves of surrogate pairs': '\ud800 x \udc00',
  'a megabyte of text': 'x'.repeat(2 ** 20),
  'a megabyte of three-byte characters': '€'.repeat(2 ** 20),
  'a megabyte of emoji': '😀'.repeat(2 ** 19),
  'an error with a megabyte of text': new Error('y'.repeat(2 ** 20)),
  'an array of a million': new Array(1_000_000).fill('item'),
  'a deep object': Array.from({ length: 10_000 }).reduce((inner) => ({ inner }), {}),
  'a deep chain of causes': Array.from({ length: 10_000 }).reduce<Error>(
    (cause, _, index) => new Error(`level ${index}`, { cause }),
    new Error('root'),
  ),
}

describe('describeThrown', () => {
  it.each(Object.keys(hostile).filter((name) => name !== 'an empty text'))('makes a storable text of %s', (name) => {
    expectStorable(describeThrown(hostile[name]))
  })

  it('keeps the empty text', () => {
    expect(describeThrown('')).toBe('')
  })

  it.each([64, 100, 1000])('keeps to %i bytes', (maxBytes) => {
    for (const thrown of Object.values(hostile)) {
      expect(Buffer.byteLength(describeThrown(thrown, maxBytes))).toBeLessThanOrEqual(maxBytes)
    }
  })

  it('says what was thrown if it was no error', () => {
    expect(describeThrown(undefined)).toBe('undefined')
    expect(describeThrown('out of paper')).toBe('out of paper')
    expect(describeThrown(10n)).toBe('10n')
    expect(describeThrown({ reason: 'paper', pages: 3 })).toBe("{ reason: 'paper', pages: 3 }")
  })

  it('gives the stack of an error, and those of its causes and parts', () => {
    const cause = new AggregateError([new TypeError('first'), 'second'], 'both')
    const text = describeThrown(new RangeError('on top', { cause }))
    expect(text).toMatch(/^RangeError: on top\n {4}at .*describe-thrown\.test\.ts/)
    expect(text).toMatch(/\ncaused by: AggregateError: both\n/)
    expect(text).toMatch(/\nwith: TypeError: first\n/)
    expect(text).toMatch(/\nwith: second/)
  })

  it('leaves out the frames of the library below those of the handler', () => {
    const error = new Error('no paper')
    const own = '    at SendMail.run (/srv/shop/tasks.ts:4:11)'
    const ours = '    at call (/srv/shop/node_modules/@pg-tasks/client/dist/worker/run-handler.js:9:80)'
    const node = '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)'
    error.stack = ['Error: no paper', own, ours, node].join('\n')
    expect(describeThrown(error)).toBe(`Error: no paper\n${own}\n${node}`)
    error.stack = ['Error: no paper', ours, node].join('\n')
    expect(describeThrown(error)).toBe(`Error: no paper\n${ours}\n${node}`)
  })

  it('gives the code of an error of the database, but not the row that it quotes', () => {
    const error = Object.assign(new Error('duplicate key value violates unique constraint "mail_key"'), {
      code: '23505',
      detail: 'Key (email)=(secret@example.com) already exists.',
    })
    const text = describeThrown(error)
    expect(text).toContain('[23505] Error: duplicate key')
    expect(text).not.toContain('secret@example.com')
  })

  it('gives the hint of an error, below its message', () => {
    const error = Object.assign(new Error('mail is not registered'), { hint: 'Call tasks.register.' })
    expect(describeThrown(error).split('\n').slice(0, 2)).toEqual([
      'Error: mail is not registered',
      'hint: Call tasks.register.',
    ])
  })

  it('shows a message that was changed after the error was made', () => {
    const error = new Error('before')
    error.message = 'after'
    expect(describeThrown(error)).toMatch(/^Error: after\n {4}at /)
  })

  it('knows an error of another realm', async () => {
    const { runInNewContext } = await import('node:vm')
    expect(describeThrown(runInNewContext('new TypeError("elsewhere")'))).toMatch(/^TypeError: elsewhere\n/)
  })

  it('keeps both ends of a message that is too long, and the frames', () => {
    const text = describeThrown(new Error(`begin ${'x'.repeat(100_000)} end`), 2000)
    expect(text).toMatch(/^Error: begin xxx/)
    expect(text).toMatch(/characters left out/)
    expect(text).toContain('xxx end\n')
    expect(text).toContain('describe-thrown.test.ts')
  })

  it('hides passwords', () => {
    const url = 'postgres://app:hunter2@db.example.com/shop'
    for (const thrown of [url, new Error(`cannot connect to ${url}`), { url, password: 'hunter2' }]) {
      expect(describeThrown(thrown)).not.toContain('hunter2')
    }
  })

  it('takes a fraction of a second for a megabyte', () => {
    const start = performance.now()
    describeThrown('postgres://'.repeat(100_000))
    describeThrown(`postgres://u:${'p'.repeat(2 ** 20)}`)
    describeThrown(`password='${'\\'.repeat(2 ** 20)}`)
    expect(performance.now() - start).toBeLessThan(2000)
  })
})
