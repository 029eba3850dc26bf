import { describe, expect, it } from 'vitest'
import { runCli } from './run-cli.js'

describe('pg-tasks', () => {
  it('tells its commands, its exit codes and examples', async () => {
    const { code, stdout, stderr } = await runCli(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const word of [
      'init',
      'migrate',
      'worker',
      'enqueue',
      'schedules',
      'doctor',
      'Exit codes:',
      'Examples:',
      'NO_COLOR',
    ]) {
      expect(stdout).toContain(word)
    }
  })

  it.each([['enqueue'], ['types', 'generate'], ['schedules', 'backfill'], ['dev', 'stop']])(
    'has examples in the help of %s %s',
    async (...command) => {
      const { code, stdout } = await runCli([...command, '--help'])
      expect(code).toBe(0)
      expect(stdout).toMatch(new RegExp(`Examples:\n.*pg-tasks ${command.join(' ')}`))
    },
  )

  it.each([
    [['lst'], 'Did you mean list?'],
    [['list'], "missing required argument 'type'"],
    [['list', 'a', 'b'], 'too many arguments'],
    [['list', 'a', '--limit', 'many'], 'no whole number'],
    [['list', 'a', '--state', 'gone'], 'no state'],
    [['types', 'generate', '--nope'], "unknown option '--nope'"],
    [['stats'], 'Which database?'],
    [['stats', '--database-url', 'mysql://x'], 'postgres://'],
    [['stats', '--database-url', 'postgres://x', '--embedded'], 'can not both'],
    [['dev'], 'pg-tasks dev src/tasks.ts; pg-tasks init'],
    [['worker', '--database-url', 'postgres://127.0.0.1:1/x'], 'pg-tasks worker src/tasks.ts'],
    [['dev', 'nowhere.ts'], 'There is no module nowhere.ts.'],
    [['doctor', 'nowhere.mjs', '--database-url', 'postgres://127.0.0.1:1/x'], 'There is no module nowhere.mjs.'],
    [['enqueue', 'a', 'b', '--database-url', 'postgres://x'], 'no column=value'],
    [['clean', 'a', '--older-than', '5 parsecs'], 'no duration'],
  ])('says what is wrong with %j, with exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await runCli(args)
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('has exit code 3 where no database answers, and says so in JSON if that is asked for', async () => {
    const { code, stderr } = await runCli(['stats', '--json', '--database-url', 'postgres://127.0.0.1:1/nowhere'])
    expect(code).toBe(3)
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'ECONNREFUSED', exitCode: 3, hint: expect.stringMatching(/DATABASE_URL.*--embedded/) },
    })
  })
})
