// Resending everything that matches: what will happen, and how far it is. It runs in the service: closing the page stops nothing.
import { useEffect, useRef } from 'react'
import { refresh, useEvery, useRead } from '../../api/cache.ts'
import { onceKey, send } from '../../api/http.ts'
import type { BulkResend, Stats } from '../../api/webhook-types.ts'
import { IconButton } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { compact, plural } from '../../ui/number.ts'
import { Progress } from '../../ui/page.tsx'
import { type Filters, filterWords } from './event-filters.tsx'

export function BulkResendDialog({
  filters,
  onClose,
  onStarted,
}: {
  filters: Filters
  onClose: () => void
  onStarted: (id: string) => void
}) {
  const once = useRef(onceKey())
  const act = async () => {
    const { id } = await send<BulkResend>('POST', '/webhooks/events/resend', filters, once.current)
    onStarted(id)
  }
  return (
    <Ask title="Resend matching events" verb="Resend them" act={act} onClose={onClose}>
      <p>
        Sends again what matches the search now: <strong>{filterWords(filters)}</strong>.
      </p>
      <p className="about">
        Pending events are skipped, and so are those of disabled or deleted subscriptions. Each goes through the full
        retry schedule. It cannot be stopped once begun.
      </p>
      <CurlButton call={{ method: 'POST', path: '/webhooks/events/resend', body: filters }} />
    </Ask>
  )
}

export function BulkProgress({ id, onClose }: { id: string; onClose: () => void }) {
  const path = `/webhooks/resends/${encodeURIComponent(id)}`
  const bulk = useRead<BulkResend>(path)
  const running = bulk.data === undefined || bulk.data.state === 'running'
  const stats = useRead<Stats>(bulk.data && !running ? '/webhooks/stats?window=1h' : null)
  const waiting = Math.min(stats.data?.pending ?? bulk.data?.resent ?? 0, bulk.data?.resent ?? 0)
  const done = !running && (waiting === 0 || bulk.data?.resent === 0)
  const look = () => {
    if (running) refresh(path)
    else if (!done) refresh('/webhooks/stats')
  }
  useEvery(1, look)
  useEffect(() => {
    if (done) refresh('/webhooks/events')
  }, [done])
  return (
    <section className="bulk" aria-label="Bulk resend">
      <Loaded read={bulk} lines={1}>
        {({ resent, skipped }) => (
          <>
            <div className="bulk-text" role="status">
              <strong>
                {running
                  ? `Queueing: ${plural(resent, 'event')} so far`
                  : done
                    ? `Done: ${plural(resent, 'event')} sent again`
                    : `Delivering: ${compact(resent - waiting)} of ${compact(resent)} done`}
              </strong>
              {skipped > 0 && <span className="soft">{compact(skipped)} skipped</span>}
            </div>
            <Progress label="Bulk resend" done={running ? null : resent === 0 ? 1 : (resent - waiting) / resent} />
          </>
        )}
      </Loaded>
      <IconButton icon="cross" label="Hide the progress" onClick={onClose} />
    </section>
  )
}
