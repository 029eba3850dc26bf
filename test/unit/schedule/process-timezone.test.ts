import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const worker = fileURLToPath(new URL('workers/compare-in-process-timezone.ts', import.meta.url))

async function runWithProcessTimezone(timezone: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', worker, '250'], {
    env: { ...process.env, TZ: timezone },
  })
  return JSON.parse(stdout)
}

describe("the process's own time zone", () => {
  it.each([
    ['America/Santiago', -240],
    ['Asia/Kolkata', 330],
    ['Australia/Lord_Howe', 630],
  ])('changes nothing: TZ=%s', async (timezone, offsetMinutes) => {
    expect(await runWithProcessTimezone(timezone)).toEqual({
      offsetMinutes,
      noonInUtc: '2027-03-13T12:00:00.000Z',
      wrongInTable: [],
      mismatches: [],
    })
  })
})
