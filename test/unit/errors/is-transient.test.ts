import { describe, expect, it } from 'vitest'
import {
  ConnectionLostError,
  NotDeliveringError,
  ReadOnlyServerError,
} from '../../../packages/client/src/errors/connection-errors.js'
import { InvalidOptionError } from '../../../packages/client/src/errors/invalid-option-error.js'
import { isConnectionLost, isReadOnly, isTransient } from '../../../packages/client/src/errors/is-transient.js'

function coded(code: string, rest: object = {}): Error {
  return Object.assign(new Error(`with ${code}`), { code, ...rest })
}

const LOST = [
  '08000',
  '08003',
  '08006',
  '08P01',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EHOSTUNREACH',
]
const PASSING = ['40001', '40P01', '55P03', '57014', '53300', '53100', '25006', '25P03', '25P04', '55006', '58030']
const LASTING = [
  '23505',
  '42P01',
  '42501',
  '42601',
  '22P02',
  '28P01',
  '3D000',
  'TQ001',
  'TQ003',
  'ENOENT',
  'EACCES',
  '0A000',
  'P0001',
]

const LOST_IN_WORDS = [
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]

describe('isTransient', () => {
  it.each([...LOST, ...PASSING])('says yes to %s', (code) => {
    expect(isTransient(coded(code))).toBe(true)
  })

  it.each(LASTING)('says no to %s', (code) => {
    expect(isTransient(coded(code))).toBe(false)
  })

  it.each(LOST_IN_WORDS)('says yes to "%s"', (message) => {
    expect(isTransient(new Error(message))).toBe(true)
  })

  it('sees the error behind an error', () => {
    expect(isTransient(new Error('finish failed', { cause: coded('40001') }))).toBe(true)
    expect(isTransient(new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]))).toBe(true)
    expect(isTransient(new Error('finish failed', { cause: coded('23505') }))).toBe(false)
  })

  it('takes a missing socket of the server for transient, but no other missing file', () => {
    expect(isTransient(coded('ENOENT', { syscall: 'connect' }))).toBe(true)
    expect(isTransient(coded('ENOENT', { syscall: 'open' }))).toBe(false)
  })

  it('knows our own errors', () => {
    expect(isTransient(new ConnectionLostError('x'))).toBe(true)
    expect(isTransient(new ReadOnlyServerError('x:1'))).toBe(true)
    expect(isTransient(new NotDeliveringError('x:1'))).toBe(false)
    expect(isTransient(new InvalidOptionError('Worker', 'x', 'y'))).toBe(false)
  })

  it('is not misled by what is no error', () => {
    const ring = new Error('ring')
    ring.cause = ring
    for (const value of [undefined, null, 'ECONNRESET', 40001, { code: 40001 }, ring])
      expect(isTransient(value)).toBe(false)
  })
})

describe('isConnectionLost', () => {
  it.each(LOST)('says yes to %s', (code) => {
    expect(isConnectionLost(coded(code))).toBe(true)
  })

  it.each([...PASSING, ...LASTING])('says no to %s', (code) => {
    expect(isConnectionLost(coded(code))).toBe(false)
  })
})

describe('isReadOnly', () => {
  it('knows the refusal of a standby, raw and wrapped', () => {
    expect(isReadOnly(coded('25006'))).toBe(true)
    expect(isReadOnly(new Error('x', { cause: new ReadOnlyServerError('x:1') }))).toBe(true)
    expect(isReadOnly(coded('40001'))).toBe(false)
  })
})
