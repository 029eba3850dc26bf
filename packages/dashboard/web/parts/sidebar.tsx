import { useText } from '../i18n/use-text.js'
import { freshness } from '../state/live.js'
import { type Language, prefer, preferences, type Theme, type Zone } from '../state/preferences.js'
import { BASE } from '../state/router.js'
import { useStore } from '../state/store.js'
import { Link } from './link.js'
import { useSession } from './use-session.js'

const PAGES = ['schedules', 'workers', 'health', 'audit'] as const

/** Pages, how fresh they are, and the settings of this browser. */
export function Sidebar({ segments }: { readonly segments: readonly string[] }) {
  const { say } = useText()
  const session = useSession()
  const fresh = useStore(freshness)
  const [page] = segments
  return (
    <header class="sidebar">
      <Link to={[]} class="brand">
        <img src={`${BASE}icon.svg`} alt="" width="22" height="22" />
        pg-tasks
      </Link>
      <nav aria-label={say('navigation')}>
        <Link to={[]} current={page === undefined || page === 'types'}>
          {say('overview')}
        </Link>
        {PAGES.map((name) => (
          <Link key={name} to={[name]} current={page === name}>
            {say(name)}
          </Link>
        ))}
      </nav>
      <div class="status">
        <span class={`freshness ${fresh}`} role="status">
          {say(fresh)}
        </span>
        {session?.readOnly === true && <span class="tag">{say('readOnly')}</span>}
      </div>
      <details class="preferences">
        <summary aria-label={say('preferences')}>
          <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
            <path d="M3 6h8m4 0h2M3 14h2m4 0h8" />
            <circle cx="13" cy="6" r="2" />
            <circle cx="7" cy="14" r="2" />
          </svg>
        </summary>
        <Settings />
        {session?.signedIn === true && (
          <form method="post" action={`${BASE}logout`}>
            <p class="hint">{say('signedInAs', { name: session.user })}</p>
            <button type="submit">{say('signOut')}</button>
          </form>
        )}
      </details>
    </header>
  )
}

function Settings() {
  const { say } = useText()
  const { language, theme, zone } = useStore(preferences)
  return (
    <div class="settings">
      <label>
        {say('language')}
        <select value={language} onChange={(event) => prefer({ language: event.currentTarget.value as Language })}>
          <option value="en">English</option>
          <option value="ru">Русский</option>
        </select>
      </label>
      <label>
        {say('theme')}
        <select value={theme} onChange={(event) => prefer({ theme: event.currentTarget.value as Theme })}>
          <option value="system">{say('themeSystem')}</option>
          <option value="light">{say('themeLight')}</option>
          <option value="dark">{say('themeDark')}</option>
        </select>
      </label>
      <label>
        {say('times')}
        <select value={zone} onChange={(event) => prefer({ zone: event.currentTarget.value as Zone })}>
          <option value="local">{say('timesLocal')}</option>
          <option value="utc">{say('timesUtc')}</option>
        </select>
      </label>
    </div>
  )
}
