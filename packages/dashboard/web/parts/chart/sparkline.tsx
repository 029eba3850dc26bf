import type { EndedBucket } from '@pg-tasks/sql'

interface SparklineProps {
  readonly buckets: readonly EndedBucket[]
  readonly kind: 'finished' | 'failed'
  readonly label: string
}

const WIDTH = 120
const HEIGHT = 28

/** Bars of equal steps, the newest at the right. */
export function Sparkline({ buckets, kind, label }: SparklineProps) {
  const most = Math.max(1, ...buckets.map(({ count }) => count))
  const step = WIDTH / Math.max(1, buckets.length)
  return (
    <svg
      class={`sparkline ${kind}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} class="baseline" />
      {buckets.map(({ count }, index) => {
        const height = count === 0 ? 0 : Math.max(1.5, (count / most) * (HEIGHT - 2))
        return (
          <rect key={index} x={index * step + step * 0.12} width={step * 0.76} y={HEIGHT - height} height={height} />
        )
      })}
    </svg>
  )
}
