import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Checks that what each package would publish can be imported. Run after the build. */
const packages = join(import.meta.dirname, '..', 'packages')
let problems = 0

for (const name of readdirSync(packages).sort()) {
  const { private: unpublished } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
  if (unpublished) continue

  const { messages, pkg } = await publint({ pkgDir: join(packages, name), strict: true, pack: 'npm' })
  for (const message of messages) {
    process.stderr.write(`${pkg.name}: ${formatMessage(message, pkg)}\n`)
    problems += 1
  }
}

process.stdout.write(problems === 0 ? 'publint: all packages are fine\n' : `publint: ${problems} problems\n`)
process.exitCode = problems === 0 ? 0 : 1
