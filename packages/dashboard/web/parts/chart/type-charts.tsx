import { useCallback, useMemo } from 'preact/hooks'
import type { ChartFigures } from '../../../server/type-figures.js'
import { formatDuration } from '../../format.js'
import { useText } from '../../i18n/use-text.js'
import type { LiveEvent } from '../../state/live.js'
import { goWith, usePlace } from '../../state/router.js'
import { useData } from '../../state/use-data.js'
import { ProblemText } from '../problem-text.js'
import { Chart, type Line } from './chart.js'

const RANGES = ['1h', '24h', '7d'] as const

interface TypeChartsProps {
  readonly path: string
  readonly deletesAtFinish: boolean
}

/** Throughput, failures, wait and run time of a type. */
export function TypeCharts({ path, deletesAtFinish }: TypeChartsProps) {
  const { say, language } = useText()
  const { query } = usePlace()
  const range = RANGES.find((one) => one === query.get('range')) ?? '1h'
  // The last step alone moves within a minute: every tick would be too often.
  const concerns = useCallback((event: LiveEvent) => event !== null && range === '1h', [range])
  const { value, error, reload } = useData<ChartFigures>(`${path}/charts?range=${range}`, concerns)
  const drawn = useMemo(() => (value === undefined ? undefined : linesOf(value, say)), [value, say])
  const count = useCallback((n: number) => Intl.NumberFormat(language, { notation: 'compact' }).format(n), [language])
  const duration = useCallback((ms: number) => formatDuration(ms, language), [language])
  return (
    <section class="charts" aria-label={say('charts')}>
      <fieldset class="ranges" aria-label={say('range')}>
        {RANGES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === range}
            onClick={() => goWith((next) => next.set('range', one), { replace: true })}
          >
            {say(`range${one}`)}
          </button>
        ))}
      </fieldset>
      {error !== undefined && <ProblemText error={error} onRetry={reload} />}
      {deletesAtFinish && <p class="hint">{say('deletedAtFinish')}</p>}
      <div class="chart-grid">
        {drawn !== undefined && (
          <>
            <Chart label={say('chartThroughput')} times={drawn.times} lines={drawn.ended} format={count} />
            <Chart label={say('chartWait')} times={drawn.times} lines={drawn.wait} format={duration} />
            <Chart label={say('chartRun')} times={drawn.times} lines={drawn.run} format={duration} />
          </>
        )}
      </div>
    </section>
  )
}

interface Drawn {
  readonly times: readonly number[]
  readonly ended: readonly Line[]
  readonly wait: readonly Line[]
  readonly run: readonly Line[]
}

function linesOf(
  { fromMs, stepMs, finished, failed, durations }: ChartFigures,
  say: ReturnType<typeof useText>['say'],
): Drawn {
  const percentiles = (median: 'waitP50Ms' | 'runP50Ms', high: 'waitP95Ms' | 'runP95Ms'): Line[] => [
    { name: say('median'), colour: 'accent', values: durations.map((one) => one[median]), filled: true },
    { name: say('p95'), colour: 'muted', values: durations.map((one) => one[high]) },
  ]
  return {
    times: finished.map((_, n) => (fromMs + n * stepMs) / 1_000),
    ended: [
      { name: say('finished'), colour: 'finished', values: finished.map(({ count }) => count), filled: true },
      { name: say('failed'), colour: 'failed', values: failed.map(({ count }) => count) },
    ],
    wait: percentiles('waitP50Ms', 'waitP95Ms'),
    run: percentiles('runP50Ms', 'runP95Ms'),
  }
}
