import { createStore } from './store.js'

export type Language = 'en' | 'ru'
export type Theme = 'system' | 'light' | 'dark'
export type Zone = 'local' | 'utc'

/** What a user of this browser has chosen. */
export interface Preferences {
  readonly language: Language
  readonly theme: Theme
  readonly zone: Zone
}

const KEY = 'pg-tasks'

export const preferences = createStore<Preferences>(read())
apply(preferences.get())

export function prefer(change: Partial<Preferences>): void {
  const chosen = { ...preferences.get(), ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen))
  } catch {
    // Then it holds for this visit.
  }
  apply(chosen)
  preferences.set(chosen)
}

function apply({ language, theme }: Preferences): void {
  document.documentElement.lang = language
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

function read(): Preferences {
  const language: Language = navigator.language.startsWith('ru') ? 'ru' : 'en'
  const byDefault: Preferences = { language, theme: 'system', zone: 'local' }
  try {
    return { ...byDefault, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) }
  } catch {
    return byDefault
  }
}
