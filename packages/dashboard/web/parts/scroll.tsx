import type { ComponentChildren } from 'preact'

interface ScrollProps {
  readonly label: string
  readonly busy?: boolean
  readonly children: ComponentChildren
}

/** What may be wider than the page: it scrolls by itself, by keyboard too. */
export function Scroll({ label, busy = false, children }: ScrollProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <section class="scroll" tabIndex={0} aria-label={label} aria-busy={busy}>
      {children}
    </section>
  )
}
