import { METRICS } from '../measure/metrics.js'
import { summarize } from '../measure/statistics.js'
import type { ResultRow, ScenarioResult } from '../results.js'
import { formatNumber } from './format-number.js'

const WIDTH = 760
const LABEL_WIDTH = 300
const VALUE_WIDTH = 90
const BAR_HEIGHT = 20
const GAP = 10
const TOP = 34

/** One bar per participant: its median, with a line from the smallest to the largest round. Readable on light and dark pages. */
export function svgBars(result: ScenarioResult): string {
  const metric = METRICS[result.bars]
  const rows = result.rows.filter((row) => row.values[result.bars] !== undefined)
  const largest = Math.max(...rows.map((row) => summaryOf(row, result).max))
  const scale = (WIDTH - LABEL_WIDTH - VALUE_WIDTH) / (largest || 1)
  const height = TOP + rows.length * (BAR_HEIGHT + GAP)
  const better = metric.better === 'neither' ? '' : `, ${metric.better} is better`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${escaped(result.title)}</title>`,
    '<style>text{fill:#57606a}@media(prefers-color-scheme:dark){text{fill:#9da7b3}}</style>',
    `<text x="0" y="16" font-weight="600">${escaped(metric.label)}${better}</text>`,
    ...rows.map((row, index) => bar(row, result, TOP + index * (BAR_HEIGHT + GAP), scale)),
    '</svg>',
    '',
  ].join('\n')
}

function bar(row: ResultRow, result: ScenarioResult, y: number, scale: number): string {
  const { median, min, max } = summaryOf(row, result)
  const middle = y + BAR_HEIGHT / 2
  const colour = isOurs(row) ? '#1f6feb' : '#8c959f'
  const x = (value: number): string => (LABEL_WIDTH + value * scale).toFixed(1)
  return [
    `<text x="${LABEL_WIDTH - 8}" y="${middle + 4}" text-anchor="end">${escaped(row.label)}</text>`,
    `<rect x="${LABEL_WIDTH}" y="${y}" width="${Math.max(median * scale, 1).toFixed(1)}" height="${BAR_HEIGHT}" rx="2" fill="${colour}"/>`,
    min === max ? '' : `<path d="M${x(min)} ${middle}H${x(max)}" stroke="#d29922" stroke-width="2"/>`,
    `<text x="${(LABEL_WIDTH + max * scale + 8).toFixed(1)}" y="${middle + 4}">${formatNumber(median, METRICS[result.bars].digits)}</text>`,
  ].join('')
}

function summaryOf(row: ResultRow, result: ScenarioResult) {
  return summarize(row.values[result.bars] ?? [])
}

function isOurs(row: ResultRow): boolean {
  return row.peer === 'ours'
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
