import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly wide?: boolean
  readonly children: ComponentChildren
}

/** A dialog over the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={element} class={wide ? 'wide' : undefined} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
