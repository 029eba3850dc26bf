import { useEffect, useState } from 'preact/hooks'
import { type HealthWords, loadHealthWords } from './finding-words.js'
import { useText } from './use-text.js'

/** The words of the language that is chosen; not ready while they are loaded. */
export function useHealthWords(): { readonly ready: boolean; readonly words: HealthWords } {
  const { language } = useText()
  const [loaded, setLoaded] = useState<{ readonly language: string; readonly words: HealthWords }>()
  useEffect(() => {
    let wanted = true
    void loadHealthWords(language).then((words) => {
      if (wanted) setLoaded({ language, words })
    })
    return () => {
      wanted = false
    }
  }, [language])
  return { ready: loaded?.language === language, words: loaded?.language === language ? loaded.words : undefined }
}
