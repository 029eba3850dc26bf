import type { CheckResult, Severity } from '@pg-tasks/sql'
import { checkTitle, findingWords, type HealthWords } from '../i18n/finding-words.js'
import { useHealthWords } from '../i18n/use-health-words.js'
import { type TextKey, useText } from '../i18n/use-text.js'
import { ProblemText } from '../parts/problem-text.js'
import { useData } from '../state/use-data.js'

const WORDS: Readonly<Record<Severity, TextKey>> = {
  critical: 'severityCritical',
  warning: 'severityWarning',
  info: 'severityInfo',
  ok: 'severityOk',
}

const WORST_FIRST: readonly Severity[] = ['critical', 'warning', 'info', 'ok']

/** What the doctor finds. */
export function HealthPage() {
  const { say } = useText()
  const { ready, words } = useHealthWords()
  const { value: read, error, loading, reload } = useData<{ readonly checks: readonly CheckResult[] }>('health')
  const value = ready ? read : undefined
  const checks = [...(value?.checks ?? [])].sort(
    (one, other) => WORST_FIRST.indexOf(one.severity) - WORST_FIRST.indexOf(other.severity),
  )
  const found = checks.filter(({ findings }) => findings.length > 0)
  const passed = checks.filter(({ findings }) => findings.length === 0)
  return (
    <>
      <div class="heading">
        <h1>{say('health')}</h1>
        <div class="buttons">
          <button type="button" disabled={loading} onClick={reload}>
            {say('checkAgain')}
          </button>
        </div>
      </div>
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <p class="hint">{say('loading')}</p>}
      {value !== undefined && found.length === 0 && (
        <p class="fine">
          <strong>{say('healthOk')}</strong> {say('healthOkText', { n: passed.length })}
        </p>
      )}
      {found.map((check) => (
        <Check key={check.check} check={check} words={words} />
      ))}
      {found.length > 0 && passed.length > 0 && (
        <section aria-labelledby="passed">
          <h2 id="passed">{say('passedChecks')}</h2>
          <ul class="passed">
            {passed.map((check) => (
              <li key={check.check}>{checkTitle(check, words)}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Check({ check, words }: { readonly check: CheckResult; readonly words: HealthWords }) {
  const { say, language } = useText()
  const title = checkTitle(check, words)
  return (
    <section class={`check-result ${check.severity}`} aria-label={title}>
      <h2>
        {title} <span class={`severity ${check.severity}`}>{say(WORDS[check.severity])}</span>
      </h2>
      <ul class="findings">
        {check.findings.map((finding) => {
          const { severity } = finding
          const { subject, problem, remedy } = findingWords(finding, words, language)
          return (
            <li key={`${subject} ${problem}`}>
              <p>
                {severity !== check.severity && <span class={`severity ${severity}`}>{say(WORDS[severity])}</span>}
                {subject !== '' && <strong>{subject}</strong>} {problem}
              </p>
              <p class="remedy">{remedy}</p>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
