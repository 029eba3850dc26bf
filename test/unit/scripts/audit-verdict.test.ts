import { describe, expect, it } from 'vitest'
// @ts-expect-error: a script without types
import { verdictOf } from '../../../scripts/audit/verdict.js'

const advisory = (severity: string) => ({
  module_name: 'left',
  severity,
  title: 'It breaks',
  url: 'https://example.com/1',
})
const json = (value: unknown) => ({ status: 1, stdout: JSON.stringify(value), stderr: '' })

describe('the verdict of an audit', () => {
  it.each(['high', 'critical'])('fails for what is %s, and names it', (severity) => {
    for (const report of [{ advisories: { 1: advisory(severity) } }, { left: [advisory('low'), advisory(severity)] }])
      expect(verdictOf(json(report))).toEqual({
        passed: false,
        lines: expect.arrayContaining([`${severity}: left: It breaks https://example.com/1`]),
      })
  })

  it('passes what is less, and names it all the same', () => {
    const { passed, lines } = verdictOf({ ...json({ advisories: { 1: advisory('moderate') } }), status: 0 })
    expect(passed).toBe(true)
    expect(lines).toContain('moderate: left: It breaks https://example.com/1')
  })

  it('passes when nothing is known', () => {
    expect(verdictOf({ status: 0, stdout: '{"advisories":{},"metadata":{}}', stderr: '' }).passed).toBe(true)
  })

  it.each([
    'ERR_PNPM_AUDIT_BAD_RESPONSE: The audit endpoint responded with 405',
    'getaddrinfo ENOTFOUND registry.example.com',
    'connect ECONNREFUSED 127.0.0.1:4873',
  ])('passes where the registry can not be asked, and says so: %s', (stderr) => {
    const { passed, lines } = verdictOf({ status: 1, stdout: '', stderr })
    expect(passed).toBe(true)
    expect(lines).toEqual([expect.stringMatching(/Not audited/), stderr])
  })

  it.each([
    ['ERR_PNPM_AUDIT_NO_LOCKFILE', ''],
    ['', 'neither JSON nor a known error'],
    ['', '{"findings": "in a form that nobody knows"}'],
  ])('fails for what it does not understand: %s %s', (stderr, stdout) => {
    expect(verdictOf({ status: 1, stdout, stderr }).passed).toBe(false)
  })
})
