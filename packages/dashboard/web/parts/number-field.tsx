import type { ComponentChildren } from 'preact'

interface NumberFieldProps {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly placeholder?: string
  readonly required?: boolean
  /** What stands beside it. */
  readonly children?: ComponentChildren
}

/** A whole number from 1 on. */
export function NumberField({ id, label, value, onValue, placeholder, required = false, children }: NumberFieldProps) {
  const input = (
    <input
      id={id}
      type="number"
      min="1"
      step="1"
      required={required}
      placeholder={placeholder}
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  )
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children === undefined ? (
        input
      ) : (
        <div class="pair">
          {input}
          {children}
        </div>
      )}
    </div>
  )
}
