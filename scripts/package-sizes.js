import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTarballs } from './packages/pack.js'
import { measureSize, sizeSentence } from './packages/size.js'

/**
 * Measures what each package weighs, packed, unpacked and installed with what it depends on: `npm run sizes` after the build. With
 * `-- --write` the READMEs of the packages say so.
 */
const SECTION = /(<!-- measured: npm run sizes -->\n)([\s\S]*?\n)?(<!-- end of measured -->)/
const write = process.argv.includes('--write')

await withTarballs(async (packages) => {
  for (const one of packages) {
    const sentence = sizeSentence(one.manifest, await measureSize(one, packages))
    process.stdout.write(`${one.manifest.name}: ${sentence}\n`)
    if (write) writeReadme(join(one.folder, 'README.md'), sentence)
  }
})

function writeReadme(file, sentence) {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (SECTION.test(text)) {
    writeFileSync(
      file,
      text.replace(SECTION, (_, begin, _old, end) => `${begin}${sentence}\n${end}`),
    )
  } else {
    process.stderr.write(`${file} has no place for it: <!-- measured: npm run sizes -->\n<!-- end of measured -->\n`)
    process.exitCode = 1
  }
}
