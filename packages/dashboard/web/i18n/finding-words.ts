import type { CheckResult, Finding } from '@pg-tasks/sql'
import { formatDuration } from '../format.js'
import type { Language } from '../state/preferences.js'
import { ruChecks } from './ru-checks.js'
import { type FindingWords, ruFindings } from './ru-findings.js'

/** What a finding names, written for people: `subject`, and whatever stands in its details. */
export interface FindingFacts {
  (name: string): string
  readonly details: Finding['details']
}

/** Words of a finding; the doctor's own are English. */
export function findingWords(finding: Finding, language: Language): Required<FindingWords> {
  const { subject, problem, remedy, code } = finding
  const own = { subject: subject ?? '', problem, remedy }
  // A later version of the database's checks may know more.
  if (language === 'en' || !Object.hasOwn(ruFindings, code)) return own
  return { ...own, ...ruFindings[code](factsOf(finding, language)) }
}

/** Title of a check. */
export function checkTitle({ check, title }: CheckResult, language: Language): string {
  return language === 'ru' ? (ruChecks[check] ?? title) : title
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
