import { useEffect, useState } from 'preact/hooks'
import { readSession, type Session } from '../state/api.js'

/** Who looks; undefined until that is known. Until then nobody may act. */
export function useSession(): Session | undefined {
  const [session, setSession] = useState<Session>()
  useEffect(() => {
    readSession().then(setSession, () => {})
  }, [])
  return session
}
