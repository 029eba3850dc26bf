import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDER = 'test/faults'

/** The page that lists the faults, relative to the repository's root. */
export const FAULTS_PAGE = 'docs/decisions/faults.md'

/** A test that the page names. */
export interface NamedTest {
  readonly title: string
  /** Relative to the repository's root. */
  readonly path: string
}

/** An entry of the page. */
export interface Fault {
  /** `B-01`, or nothing for a fault that nobody else has reported. */
  readonly id: string | undefined
  readonly text: string
  readonly tests: readonly NamedTest[]
}

/** The entries of the page, in its order: bullets of one paragraph each. */
export function readFaults(): readonly Fault[] {
  const page = readFileSync(join(ROOT, FAULTS_PAGE), 'utf8')
  const bullets = page.matchAll(/^- (.+(?:\n {2}.+)*)/gm)
  return [...bullets].map(([, bullet = '']) => {
    const text = bullet.replaceAll(/\n +/g, ' ')
    const tests = [...text.matchAll(/\[([^\]]+)\]\(([^)]+\.test\.ts)\)/g)].map(([, title = '', link = '']) => ({
      title,
      path: join(dirname(FAULTS_PAGE), link).replaceAll('\\', '/'),
    }))
    return { id: /^\*\*(B-\d\d)\*\*/.exec(text)?.[1], text, tests }
  })
}

/** All test files of this folder, relative to the repository's root. */
export function ownFiles(): readonly string[] {
  return readdirSync(join(ROOT, FOLDER))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${FOLDER}/${name}`)
}

/** What runs for the page: the files of this folder, and those that it names elsewhere; or of both those that take minutes. */
export function filesToRun(slow: boolean): readonly string[] {
  const named = readFaults().flatMap(({ tests }) => tests.map(({ path }) => path))
  return [...new Set([...ownFiles(), ...named])].filter((path) => path.endsWith('.slow.test.ts') === slow).sort()
}

/** Whether the file has a test, or a group of tests, of that title. */
export function hasTitle({ path, title }: NamedTest): boolean {
  const source = readFileSync(join(ROOT, path), 'utf8').replaceAll(`\\'`, `'`)
  return [`'`, '"', '`'].some((quote) => {
    const [before = '', after] = source.split(`${quote}${title}${quote}`)
    return after !== undefined && /(\b(it|describe)(\.\w+)*|\))\(\s*$/.test(before)
  })
}
