import type { FindingCode } from './finding-code.js'

/** How bad a finding is, from nothing to what must be seen to now. */
export const SEVERITIES = ['ok', 'info', 'warning', 'critical'] as const

export type Severity = (typeof SEVERITIES)[number]

/** Something that the doctor found, and what to do about it. */
export interface Finding {
  /** What it says, whatever the words: compare this, not the problem. */
  readonly code: FindingCode
  readonly severity: Exclude<Severity, 'ok'>
  /** What it is about: a table, a schedule, a session; null: the database. */
  readonly subject: string | null
  /** One sentence. */
  readonly problem: string
  /** What to do: a sentence, or a statement that can be run as it is. */
  readonly remedy: string
  /** What it was judged by, and whatever its sentences name beside the subject; durations in milliseconds. */
  readonly details: Readonly<Record<string, unknown>>
}

/** What one check came to: its findings, or none. */
export interface CheckResult {
  /** Stable identifier: compare this, not the title. */
  readonly check: string
  /** For people. */
  readonly title: string
  /** That of the worst finding; `ok` where there is none. */
  readonly severity: Severity
  readonly findings: readonly Finding[]
}

/** The worst of some severities; `ok` where there are none. */
export function worst(severities: Iterable<Severity>): Severity {
  let most = 0
  for (const severity of severities) most = Math.max(most, SEVERITIES.indexOf(severity))
  return SEVERITIES[most] ?? 'critical'
}

/** A check's result. */
export function checkResult(check: string, title: string, findings: readonly Finding[]): CheckResult {
  return { check, title, severity: worst(findings.map((finding) => finding.severity)), findings }
}
