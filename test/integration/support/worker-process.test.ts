import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { spawnScript } from '../../support/worker-process.js'

function script(source: string): string {
  const file = join(temporaryFolder(), 'script.ts')
  writeFileSync(file, source)
  return file
}

it('reads lines in order, exchanges messages, and kills', async () => {
  const worker = spawnScript(
    script(`
      const greeting: string = 'hello ' + process.argv[2] + ' ' + process.env.COLOUR
      console.log(greeting)
      console.error('second line')
      process.on('message', (message) => process.send!({ echo: message }))
      console.log('ready')
    `),
    { args: ['you'], env: { COLOUR: 'blue' } },
  )
  expect(await worker.line(/^hello/)).toBe('hello you blue')
  await worker.line('ready')
  expect(worker.send({ a: 1 })).toBe(true)
  expect(await worker.message()).toEqual({ echo: { a: 1 } })
  expect(await worker.kill('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' })
  expect(worker.output).toContain('second line')
  expect(worker.send('too late')).toBe(false)
})

it('says what the process wrote when a line does not come', async () => {
  const worker = spawnScript(script(`console.log('only this'); process.exitCode = 3`))
  await expect(worker.line('something else')).rejects.toThrow(/only this/)
  expect(await worker.exited).toEqual({ code: 3, signal: null })
})

it('runs on the sources of our packages', async () => {
  const worker = spawnScript(new URL('./workers/resolve-package.ts', import.meta.url))
  expect(await worker.line('packages')).toMatch(/packages\/sql\/src\/index\.ts$/)
})
