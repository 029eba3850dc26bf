import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { preferences } from '../../state/preferences.js'
import { useStore } from '../../state/store.js'

/** One line of a chart; `null` where nothing was measured. */
export interface Line {
  readonly name: string
  readonly colour: 'finished' | 'failed' | 'accent' | 'muted'
  readonly values: ReadonlyArray<number | null>
  readonly filled?: boolean
}

interface ChartProps {
  readonly label: string
  /** In seconds since 1970. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
}

const HEIGHT = 140

/** A chart over time; its library is loaded with the first one. */
export function Chart({ label, times, lines, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const { theme, zone } = useStore(preferences)

  useEffect(() => {
    const element = place.current
    if (element === null) return
    let plot: uPlot | undefined
    let gone = false
    const observer = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }))
    void import('./plot.js').then(({ makePlot }) => {
      if (gone) return
      plot = makePlot(element, { times, lines, format, height: HEIGHT, utc: zone === 'utc' })
      observer.observe(element)
    })
    return () => {
      gone = true
      observer.disconnect()
      plot?.destroy()
    }
  }, [times, lines, theme, zone])

  return (
    <figure class="chart">
      <figcaption>
        {label}
        <span class="legend">
          {lines.map(({ name, colour }) => (
            <span key={name} class={`key ${colour}`}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot" ref={place} role="img" aria-label={`${label}: ${summary(lines, format)}`} />
    </figure>
  )
}

/** What a chart says to those who can't see it. */
function summary(lines: readonly Line[], format: (value: number) => string): string {
  return lines
    .map(({ name, values }) => {
      const known = values.filter((value) => value !== null)
      return known.length === 0 ? `${name} –` : `${name} ${format(Math.min(...known))} – ${format(Math.max(...known))}`
    })
    .join('; ')
}
