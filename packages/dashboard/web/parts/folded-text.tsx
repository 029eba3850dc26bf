import { useState } from 'preact/hooks'
import { useText } from '../i18n/use-text.js'
import { Scroll } from './scroll.js'

const LINES = 12
const LENGTH = 1_200

/** A long text, folded until somebody wants all of it. */
export function FoldedText({ text, label }: { readonly text: string; readonly label: string }) {
  const { say } = useText()
  const [open, setOpen] = useState(false)
  const short = text.split('\n').slice(0, LINES).join('\n').slice(0, LENGTH)
  const folded = short.length < text.length
  return (
    <div class="folded">
      <Scroll label={label}>
        <pre>{open || !folded ? text : `${short}…`}</pre>
      </Scroll>
      {folded && (
        <button type="button" class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {say(open ? 'showLess' : 'showAll')}
        </button>
      )}
    </div>
  )
}
