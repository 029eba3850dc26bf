import type { ComponentChildren } from 'preact'
import { addressOf, go } from '../state/router.js'

interface LinkProps {
  readonly to: readonly string[]
  readonly query?: Readonly<Record<string, string>>
  readonly class?: string
  readonly current?: boolean
  readonly label?: string
  readonly children: ComponentChildren
}

/** A link inside the dashboard; with a modifier key the browser opens it as any other. */
export function Link({ to, query, class: name, current = false, label, children }: LinkProps) {
  const address = addressOf(to, query === undefined ? undefined : new URLSearchParams(query))
  return (
    <a
      href={address}
      class={name}
      aria-label={label}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0) return
        event.preventDefault()
        go(address)
      }}
    >
      {children}
    </a>
  )
}
