// Deliveries over time as stacked bars, drawn by hand in SVG. What the picture shows, a hidden table says too.
import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { Bucket } from '../api/webhook-types.ts'
import { compact } from './number.ts'
import { utc } from './time.tsx'

const height = 180
const margin = { left: 36, right: 4, top: 8, bottom: 22 }

export function DeliveryChart({ buckets, bucketSeconds }: { buckets: readonly Bucket[]; bucketSeconds: number }) {
  const frame = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(640)
  const [at, setAt] = useState<number>()
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(240, Math.round(entry!.contentRect.width))))
    observer.observe(frame.current!)
    return () => observer.disconnect()
  }, [])

  const plotWidth = width - margin.left - margin.right
  const plotHeight = height - margin.top - margin.bottom
  const top = niceTop(Math.max(1, ...buckets.map((each) => each.delivered + each.failed)))
  const step = plotWidth / Math.max(1, buckets.length)
  const gap = step > 6 ? 2 : step > 3 ? 1 : 0
  const y = (value: number) => (value / top) * plotHeight
  const names = timeNames(bucketSeconds)
  const labelEvery = Math.max(1, Math.ceil(buckets.length / Math.max(2, Math.floor(plotWidth / 96))))
  const shown = at === undefined ? undefined : buckets[at]

  const point = (event: PointerEvent<SVGSVGElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - margin.left
    const index = Math.floor(x / step)
    setAt(index >= 0 && index < buckets.length ? index : undefined)
  }

  return (
    <div className="chart" ref={frame}>
      <svg
        width={width}
        height={height}
        aria-hidden="true"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setAt(undefined)}
      >
        {(top % 2 === 0 ? [0, 0.5, 1] : [0, 1]).map((part) => {
          const lineY = margin.top + plotHeight - part * plotHeight
          return (
            <g key={part}>
              <line className="grid" x1={margin.left} x2={width - margin.right} y1={lineY + 0.5} y2={lineY + 0.5} />
              <text className="tick" x={margin.left - 8} y={lineY + 4} textAnchor="end">
                {compact(top * part)}
              </text>
            </g>
          )
        })}
        {buckets.map((bucket, i) => {
          const x = margin.left + i * step
          const base = margin.top + plotHeight
          const [delivered, failed] = [y(bucket.delivered), y(bucket.failed)]
          return (
            <g key={bucket.at} className={at !== undefined && at !== i ? 'dim' : ''}>
              <rect
                className="bar-delivered"
                x={x}
                y={base - delivered}
                width={Math.max(1, step - gap)}
                height={delivered}
              />
              {bucket.failed > 0 && (
                <rect
                  className="bar-failed"
                  x={x}
                  y={base - delivered - Math.max(2, failed)}
                  width={Math.max(1, step - gap)}
                  height={Math.max(2, failed)}
                />
              )}
              {i % labelEvery === 0 && x + 40 < width && (
                <text className="tick" x={x} y={height - 5}>
                  {names.format(new Date(bucket.at))}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      {shown && at !== undefined && (
        <div
          className="chart-tip"
          style={{ left: `${Math.min(width - 150, Math.max(0, margin.left + at * step - 60))}px` }}
        >
          <strong>{names.format(new Date(shown.at))}</strong>
          <span>
            <i className="key delivered" /> {compact(shown.delivered)} delivered
          </span>
          <span>
            <i className="key failed" /> {compact(shown.failed)} failed
          </span>
        </div>
      )}
      <p className="legend" aria-hidden="true">
        <span>
          <i className="key delivered" /> Delivered
        </span>
        <span>
          <i className="key failed" /> Failed attempts
        </span>
      </p>
      <table className="hidden">
        <caption>Attempts over time</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Delivered</th>
            <th scope="col">Failed</th>
          </tr>
        </thead>
        <tbody>
          {buckets
            .filter((each) => each.delivered + each.failed > 0)
            .map((each) => (
              <tr key={each.at}>
                <td>{utc(each.at)}</td>
                <td>{each.delivered}</td>
                <td>{each.failed}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}

function timeNames(bucketSeconds: number): Intl.DateTimeFormat {
  return bucketSeconds >= 3_600
    ? new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' })
    : new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
}

function niceTop(most: number): number {
  const size = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 3, 4, 5, 6, 8, 10].map((each) => each * size).find((each) => each >= most) ?? most
}
