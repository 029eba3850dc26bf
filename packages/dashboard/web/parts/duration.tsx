import { formatDuration } from '../format.js'
import { useText } from '../i18n/use-text.js'

/** A duration in milliseconds. */
export function Duration({ ms }: { readonly ms: number | null }) {
  const { language } = useText()
  return <span class="num">{formatDuration(ms, language)}</span>
}
