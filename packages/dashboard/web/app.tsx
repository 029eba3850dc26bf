import { useEffect } from 'preact/hooks'
import { useText } from './i18n/use-text.js'
import { AuditPage } from './pages/audit-page.js'
import { HealthPage } from './pages/health-page.js'
import { OverviewPage } from './pages/overview-page.js'
import { SchedulePage } from './pages/schedule-page.js'
import { SchedulesPage } from './pages/schedules-page.js'
import { TaskPage } from './pages/task-page.js'
import { TypePage } from './pages/type-page.js'
import { WorkersPage } from './pages/workers-page.js'
import { Link } from './parts/link.js'
import { Sidebar } from './parts/sidebar.js'
import { ToastList } from './parts/toast-list.js'
import { closeMenus } from './state/close-menus.js'
import { startLive } from './state/live.js'
import { usePlace } from './state/router.js'

/** The frame of every page, and the page that the address names. */
export function App() {
  const { say } = useText()
  const { segments } = usePlace()
  useEffect(() => startLive(), [])
  useEffect(() => closeMenus(), [])
  useEffect(() => {
    const names = segments.length === 0 ? [say('overview')] : segments.filter((segment) => segment !== 'types')
    document.title = `${names.reverse().join(' · ')} · pg-tasks`
  }, [segments, say])
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        {say('skip')}
      </button>
      <Sidebar segments={segments} />
      <main id="main" tabIndex={-1}>
        <Page segments={segments} />
      </main>
      <ToastList />
    </div>
  )
}

function Page({ segments }: { readonly segments: readonly string[] }) {
  const { say } = useText()
  const [page, first, second, third] = segments
  if (page === undefined) return <OverviewPage />
  if (page === 'types' && first !== undefined && second !== undefined) {
    return third === undefined ? (
      <TypePage key={`${first}.${second}`} schema={first} table={second} />
    ) : (
      <TaskPage key={`${first}.${second}.${third}`} schema={first} table={second} id={third} />
    )
  }
  if (page === 'schedules')
    return first === undefined ? <SchedulesPage /> : <SchedulePage key={first} scheduleKey={first} />
  if (page === 'workers') return <WorkersPage />
  if (page === 'health') return <HealthPage />
  if (page === 'audit') return <AuditPage />
  return (
    <div class="empty">
      <h1>{say('notFound')}</h1>
      <Link to={[]}>{say('backToOverview')}</Link>
    </div>
  )
}
