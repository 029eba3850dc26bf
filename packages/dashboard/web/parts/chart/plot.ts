import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Line } from './chart.js'

interface PlotOptions {
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly height: number
  readonly utc: boolean
}

/** Draws lines into an element, in the colours that the page has now. */
export function makePlot(element: HTMLElement, { times, lines, format, height, utc }: PlotOptions): uPlot {
  const colour = (name: string): string => getComputedStyle(element).getPropertyValue(`--${name}`).trim()
  const axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('hairline'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 } },
      ...(utc ? { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), 'UTC') } : {}),
      scales: { y: { range: (_plot, _min, max) => [0, Math.max(max, 1) * 1.08] } },
      axes: [
        { ...axis, size: 26, space: 70, values: '{HH}:{mm}' },
        { ...axis, size: 68, space: 34, values: (_plot, splits) => splits.map(format) },
      ],
      series: [
        {},
        ...lines.map((line) => {
          const stroke = colour(line.colour)
          return {
            label: line.name,
            stroke,
            width: 1.5,
            points: { show: false },
            ...(line.filled === true ? { fill: `${stroke}2b` } : {}),
          }
        }),
      ],
      hooks: {
        setCursor: [(plot) => showValues(plot, lines, format, utc)],
      },
    },
    [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData,
    element,
  )
}

/** The values under the pointer, as the element's title would be too slow. */
function showValues(plot: uPlot, lines: readonly Line[], format: (value: number) => string, utc: boolean): void {
  const { idx } = plot.cursor
  let tip = plot.over.querySelector<HTMLElement>('.tip')
  if (tip === null) {
    tip = document.createElement('div')
    tip.className = 'tip'
    plot.over.append(tip)
  }
  tip.hidden = idx === null || idx === undefined
  if (idx === null || idx === undefined) return
  const at = new Date((plot.data[0][idx] ?? 0) * 1_000)
  const time = at.toLocaleString(document.documentElement.lang, {
    dateStyle: 'short',
    timeStyle: 'short',
    ...(utc ? { timeZone: 'UTC' } : {}),
  })
  const values = lines.map(({ name }, index) => {
    const value = plot.data[index + 1]?.[idx]
    return `${name} ${value === null || value === undefined ? '–' : format(value)}`
  })
  tip.textContent = [time, ...values].join(' · ')
}
