import type { CheckResult, Finding } from '@pg-tasks/sql'
import { formatDuration } from '../format.js'
import type { Language } from '../state/preferences.js'
import type { FindingWords } from './ru-findings.js'

/** What a finding names, written for people: `subject`, and whatever stands in its details. */
export interface FindingFacts {
  (name: string): string
  readonly details: Finding['details']
}

/** A language's words for what the doctor finds; undefined: the doctor's own, which are English. */
export type HealthWords = typeof import('./ru-health.js') | undefined

/** Loads the words of a language. Where that fails, the doctor's own will do. */
export async function loadHealthWords(language: Language): Promise<HealthWords> {
  return language === 'ru' ? import('./ru-health.js').catch(() => undefined) : undefined
}

/** Words of a finding. */
export function findingWords(finding: Finding, words: HealthWords, language: Language): Required<FindingWords> {
  const { subject, problem, remedy, code } = finding
  const own = { subject: subject ?? '', problem, remedy }
  // A later version's doctor may know more.
  if (words === undefined || !Object.hasOwn(words.ruFindings, code)) return own
  return { ...own, ...words.ruFindings[code](factsOf(finding, language)) }
}

/** Title of a check. */
export function checkTitle({ check, title }: CheckResult, words: HealthWords): string {
  return words?.ruChecks[check] ?? title
}

function factsOf({ subject, details }: Finding, language: Language): FindingFacts {
  const holder = details.holder as { readonly ageMs?: number | null } | undefined
  const facts: Readonly<Record<string, unknown>> = { ...holder, ...details, subject }
  const of = (name: string): string => {
    const value = facts[name] ?? ''
    if (typeof value === 'number') {
      return name.endsWith('Ms') ? formatDuration(value, language) : value.toLocaleString(language)
    }
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    return name === 'lastError' ? (text.split('\n', 1)[0] ?? '') : text
  }
  return Object.assign(of, { details })
}
