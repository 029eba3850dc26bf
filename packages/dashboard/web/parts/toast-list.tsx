import { useStore } from '../state/store.js'
import { toasts } from '../state/toasts.js'

/** Messages about what was just done; read out as they come. */
export function ToastList() {
  const list = useStore(toasts)
  return (
    <div class="toasts" role="status" aria-live="polite">
      {list.map(({ id, text, bad }) => (
        <p key={id} class={bad ? 'toast bad' : 'toast'}>
          {text}
        </p>
      ))}
    </div>
  )
}
