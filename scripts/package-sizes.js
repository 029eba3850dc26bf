import { readFileSync, writeFileSync } from 'node:fs'
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
  const text = readFileSync(file, 'utf8')
  if (!SECTION.test(text)) throw new Error(`${file} has no place for its size: <!-- measured: npm run sizes -->`)
  writeFileSync(
    file,
    text.replace(SECTION, (_, begin, _old, end) => `${begin}${sentence}\n${end}`),
  )
}
