import { type AddressInfo, connect, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { withDeadline } from '../../../packages/client/src/timers/with-deadline.js'

const late = () => new Error('too late')

function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((type) => type === 'Timeout').length
}

describe('withDeadline', () => {
  it('settles as the work does, and keeps no timer', async () => {
    const before = activeTimers()
    expect(await withDeadline(Promise.resolve(7), 60_000, late)).toBe(7)
    await expect(withDeadline(Promise.reject(new Error('work')), 60_000, late)).rejects.toThrow('work')
    expect(activeTimers()).toBe(before)
  })

  it('rejects after the deadline, and ignores what the work does later', async () => {
    let fail: (error: Error) => void = () => {}
    const work = new Promise<never>((_, reject) => {
      fail = reject
    })
    await expect(withDeadline(work, 10, late)).rejects.toThrow('too late')
    // Would be an unhandled rejection, on which the test run fails.
    fail(new Error('nobody waits'))
  })

  it('takes an answer that lay in the socket while the process was busy', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.end('answer')))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    const waiting = withDeadline(answer, 20, late)
    socket.write('question')
    // Lets the server, which lives in this process too, read and answer; then blocks until long after the deadline.
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    const until = performance.now() + 100
    while (performance.now() < until);
    expect(await waiting).toBe('answer')
    server.close()
  })
})
