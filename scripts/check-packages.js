import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { manifestProblems } from './packages/manifest-problems.js'
import { run, withTarballs } from './packages/pack.js'
import { ROOT } from './packages/published-packages.js'

/** Checks that what each package would publish can be imported, and its types too. Run after the build. */
const root = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const ATTW = join(ROOT, 'node_modules', '.bin', 'attw')

async function publintProblems({ tarball }) {
  const { buffer } = await readFile(tarball).then((bytes) => new Uint8Array(bytes))
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true })
  return messages.map((message) => formatMessage(message, pkg))
}

/** The packages are ES modules, so what CommonJS would resolve isn't asked. A package that is only a command has no types. */
async function typesProblems({ manifest, tarball }) {
  if (manifest.exports?.['.'] === undefined) return []
  try {
    await run(ATTW, [tarball, '--profile', 'esm-only', '--format', 'ascii'])
    return []
  } catch ({ stdout, stderr }) {
    return [`${stdout}${stderr}`]
  }
}

const problems = await withTarballs(async (packages) => {
  const found = []
  for (const one of packages) {
    const those = [
      ...manifestProblems(one.manifest, root),
      ...(await publintProblems(one)),
      ...(await typesProblems(one)),
    ]
    found.push(...those.map((problem) => `${one.manifest.name}: ${problem}`))
  }
  return found
})

for (const problem of problems) process.stderr.write(`${problem}\n`)
process.stdout.write(problems.length === 0 ? 'All packages can be published.\n' : `${problems.length} problems\n`)
process.exitCode = problems.length === 0 ? 0 : 1
