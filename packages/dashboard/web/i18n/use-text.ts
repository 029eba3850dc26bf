import { useCallback } from 'preact/hooks'
import { type Language, preferences } from '../state/preferences.js'
import { useStore } from '../state/store.js'
import { en } from './en.js'
import { ru } from './ru.js'

export type TextKey = keyof typeof en
export type Fill = Readonly<Record<string, string | number>>
export type Say = (key: TextKey, fill?: Fill) => string

const TEXTS: Readonly<Record<Language, Readonly<Record<TextKey, string>>>> = { en, ru }

/** Says a text in a language. Where it has forms of a number, `n` chooses; it may come as a number or written. */
function say(language: Language, key: TextKey, fill: Fill = {}): string {
  const forms = TEXTS[language][key].split('|')
  const text = (forms.length > 1 ? forms[formOf(language, Number(fill.n))] : forms[0]) ?? ''
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = fill[name]
    return typeof value === 'number' ? value.toLocaleString(language) : (value ?? '')
  })
}

function formOf(language: Language, n: number): number {
  const category = new Intl.PluralRules(language).select(n)
  if (language === 'en') return category === 'one' ? 0 : 1
  return category === 'one' ? 0 : category === 'few' ? 1 : 2
}

/** Says texts in the language that is chosen. */
export function useText(): { readonly say: Say; readonly language: Language } {
  const { language } = useStore(preferences)
  return { say: useCallback((key, fill) => say(language, key, fill), [language]), language }
}

/** Whether there is such a text. */
export function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(en, key)
}
