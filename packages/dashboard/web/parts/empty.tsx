import type { ComponentChildren } from 'preact'

interface EmptyProps {
  readonly title: string
  readonly help?: string
  /** What to type. */
  readonly code?: string
  readonly children?: ComponentChildren
}

/** Says that there is nothing, and what to do about it. */
export function Empty({ title, help, code, children }: EmptyProps) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {help !== undefined && <p>{help}</p>}
      {code !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <pre tabIndex={0}>
          <code>{code}</code>
        </pre>
      )}
      {children}
    </div>
  )
}
