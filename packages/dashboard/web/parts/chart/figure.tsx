import type { Count } from '@pg-tasks/sql'
import { formatCount } from '../../format.js'
import { useText } from '../../i18n/use-text.js'

/** A number of tasks; an estimate says so. */
export function Figure({ of }: { readonly of: Count }) {
  const { say, language } = useText()
  const text = formatCount(of, language)
  if (!of.about) return <span class="num">{text}</span>
  return (
    <span class="num about" title={say('aboutHint')}>
      <span aria-hidden="true">≈ {text}</span>
      <span class="hidden">{say('about', { n: text })}</span>
    </span>
  )
}
