import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { SafeEmitter } from '../../../packages/client/src/events/safe-emitter.js'

interface Events {
  finished: [id: string, ms: number]
  error: [error: Error]
}

describe('SafeEmitter', () => {
  it('calls the listeners in order, with the arguments', () => {
    const emitter = new SafeEmitter<Events>()
    const heard: unknown[] = []
    emitter.on('finished', (id, ms) => heard.push(['a', id, ms]))
    emitter.on('finished', (id) => heard.push(['b', id]))
    expect(emitter.emit('finished', '7', 12)).toBe(true)
    expect(heard).toEqual([
      ['a', '7', 12],
      ['b', '7'],
    ])
  })

  it('goes on after a listener that throws, and reports it', () => {
    const failures: unknown[] = []
    const emitter = new SafeEmitter<Events>((error, event) => failures.push([event, error]))
    const heard: string[] = []
    emitter.on('finished', () => {
      throw new Error('listener')
    })
    emitter.on('finished', (id) => heard.push(id))
    expect(() => emitter.emit('finished', '7', 1)).not.toThrow()
    expect(heard).toEqual(['7'])
    expect(failures).toEqual([['finished', new Error('listener')]])
  })

  it('catches the rejection of an async listener', async () => {
    const reported = new Promise((resolve) => {
      const emitter = new SafeEmitter<Events>((error) => resolve(error))
      emitter.on('finished', async () => {
        throw new Error('later')
      })
      emitter.emit('finished', '7', 1)
    })
    expect(await reported).toEqual(new Error('later'))
  })

  it('survives a reporter that throws, and an error that nobody listens to', () => {
    const emitter = new SafeEmitter<Events>(() => {
      throw new Error('reporter')
    })
    emitter.on('finished', () => {
      throw new Error('listener')
    })
    expect(() => emitter.emit('finished', '7', 1)).not.toThrow()
    expect(emitter.emit('error', new Error('nobody listens'))).toBe(false)
  })

  it('calls a once listener once, even if it emits the same event', () => {
    const emitter = new SafeEmitter<Events>()
    let calls = 0
    emitter.once('finished', () => {
      calls += 1
      emitter.emit('finished', '8', 1)
    })
    emitter.emit('finished', '7', 1)
    expect(calls).toBe(1)
    expect(emitter.listenerCount('finished')).toBe(0)
  })

  it('removes one registration at a time, also while it emits', () => {
    const emitter = new SafeEmitter<Events>()
    const heard: string[] = []
    const listener = (id: string) => heard.push(id)
    emitter.on('finished', () => emitter.off('finished', listener))
    emitter.on('finished', listener).on('finished', listener)
    emitter.emit('finished', '1', 1)
    expect(heard).toEqual(['1', '1'])
    emitter.emit('finished', '2', 1)
    expect(heard).toEqual(['1', '1', '2'])
    emitter.off('finished', () => {})
    expect(emitter.listenerCount('finished')).toBe(1)
  })

  it('works with once() of node:events, and leaves nothing behind when that is aborted', async () => {
    const emitter = new SafeEmitter<Events>()
    const heard = once(emitter as never, 'finished')
    emitter.emit('finished', '7', 3)
    expect(await heard).toEqual(['7', 3])

    const controller = new AbortController()
    const aborted = once(emitter as never, 'finished', { signal: controller.signal })
    controller.abort()
    await expect(aborted).rejects.toThrow('aborted')
    expect(emitter.listenerCount('finished')).toBe(0)
  })
})
