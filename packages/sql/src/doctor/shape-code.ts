import type { Finding } from './finding.js'
import type { FindingCode } from './finding-code.js'

/** The problems as tasks.check_table and tasks.check_triggers word them, and what they name. */
const SHAPES: ReadonlyArray<readonly [FindingCode, RegExp]> = [
  ['column_missing', /^column (?<column>.+) \((?<type>.+)\) is missing$/],
  ['column_type', /^column (?<column>.+) is (?<type>.+), the template has (?<expected>.+)$/],
  ['column_generated', /^column (?<column>.+) is generated$/],
  ['column_without_default', /^column (?<column>.+) has no default$/],
  ['column_nullable', /^column (?<column>.+) may be NULL$/],
  ['id_not_unique', /^id is not unique$/],
  ['priority_unchecked', /^priority is not checked$/],
  ['storage_parameter_unset', /^storage parameter (?<parameter>.+) is not set$/],
  ['trigger_missing', /^trigger (?<trigger>.+) is missing$/],
  ['trigger_unwanted', /^trigger (?<trigger>.+) is there$/],
]

/** Code and details of a problem with a table's shape. */
export function shapeCode(problem: string): Pick<Finding, 'code' | 'details'> {
  for (const [code, pattern] of SHAPES) {
    const match = pattern.exec(problem)
    if (match !== null) return { code, details: { ...match.groups } }
  }
  // A later version's database may know of more.
  return { code: 'shape_differs', details: { problem } }
}
