import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { useText } from '../i18n/use-text.js'
import { Dialog } from './dialog.js'
import { useAction } from './use-action.js'

interface FormDialogProps {
  readonly title: string
  readonly submit: string
  readonly grave?: boolean
  readonly wide?: boolean
  readonly onClose: () => void
  /** Does it and says what came of it; the dialog stays where it throws. */
  readonly onSubmit: () => Promise<string>
  readonly children?: ComponentChildren
}

/** A dialog that asks for something and does it. */
export function FormDialog({
  title,
  submit,
  grave = false,
  wide = false,
  onClose,
  onSubmit,
  children,
}: FormDialogProps) {
  const { say } = useText()
  const { busy, act } = useAction()
  const form = useRef<HTMLFormElement>(null)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (await act(onSubmit)) form.current?.closest('dialog')?.close()
  }
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      <form ref={form} onSubmit={(event) => void send(event)}>
        {children}
        <div class="buttons">
          <button type="button" onClick={(event) => event.currentTarget.closest('dialog')?.close()}>
            {say('cancelDialog')}
          </button>
          <button type="submit" class={grave ? 'primary grave' : 'primary'} disabled={busy}>
            {submit}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
