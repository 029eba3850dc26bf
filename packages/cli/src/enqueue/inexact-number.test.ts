import { expect, it } from 'vitest'
import { inexactNumber } from './inexact-number.js'

it.each([
  ['{"id": 9007199254740993}', '9007199254740993'],
  ['{"id": -1234567890123456789, "b": 1}', '-1234567890123456789'],
  ['{"a": {"deep": [1.00000000000000000001]}}', '1.00000000000000000001'],
  ['{"a": 1e400}', '1e400'],
  ['{"a": 1e-400}', '1e-400'],
])('finds in %s the number that JavaScript would change', (json, number) => {
  expect(inexactNumber(json)).toBe(number)
})

it.each([
  '{"id": 9007199254740992, "b": 0.30000000000000004}',
  '{"id": 1000000000000000000000, "b": 1.50000000000000000000}',
  '{"text": "9007199254740993", "b": "\\"9007199254740993"}',
  '{"a": 1E3, "b": -0.0e7, "c": 5e-7, "d": 0.000001234567890123456}',
])('finds nothing in %s', (json) => {
  expect(inexactNumber(json)).toBeUndefined()
})
