// What a page says when there is nothing, when something went wrong, or when something needs attention.
import type { ReactNode } from 'react'
import type { Read } from '../api/cache.ts'
import type { ApiError } from '../api/http.ts'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

type Kind = 'info' | 'good' | 'warn' | 'bad'
const icons: Record<Kind, IconName> = { info: 'bolt', good: 'check', warn: 'clock', bad: 'warn' }

export function Notice({
  kind,
  title,
  icon,
  children,
  actions,
}: {
  kind: Kind
  title: ReactNode
  icon?: IconName
  children?: ReactNode
  actions?: ReactNode
}) {
  return (
    <div className={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      <span className="notice-mark">
        <Icon name={icon ?? icons[kind]} />
      </span>
      <div className="notice-body">
        <p className="notice-title">{title}</p>
        {children}
      </div>
      {actions && <div className="notice-actions">{actions}</div>}
    </div>
  )
}

export function ErrorNotice({ error, title, children }: { error: ApiError; title?: string; children?: ReactNode }) {
  const heading =
    title ?? (error.status === 404 ? 'Not found' : error.status === 403 ? 'Not allowed' : 'It did not work')
  return (
    <Notice kind="bad" title={heading}>
      <p>{error.message}</p>
      {error.requestId && (
        <p className="request-id">
          Request <code>{error.requestId}</code>
        </p>
      )}
      {children}
    </Notice>
  )
}

export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="empty">
      <span className="empty-mark">
        <Icon name={icon} size={20} />
      </span>
      <p className="empty-title">{title}</p>
      {children && <div className="empty-text">{children}</div>}
      {action}
    </div>
  )
}

export function Skeleton({ lines = 4 }: { lines?: number }) {
  return (
    <div className="skeletons" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
        <span key={i} className="skeleton" />
      ))}
    </div>
  )
}

// Shows what was read; before that its loading, and when it failed the failure.
export function Loaded<T>({
  read,
  lines,
  children,
}: {
  read: Read<T> & { again: () => void }
  lines?: number
  children: (data: T) => ReactNode
}) {
  if (read.data !== undefined) {
    return (
      <>
        {read.error && <ErrorNotice error={read.error} title="This may be out of date" />}
        {children(read.data)}
      </>
    )
  }
  if (read.error) {
    return (
      <ErrorNotice error={read.error}>
        {read.error.status !== 404 && read.error.status !== 403 && (
          <Button small onClick={read.again}>
            Try again
          </Button>
        )}
      </ErrorNotice>
    )
  }
  return <Skeleton {...(lines === undefined ? {} : { lines })} />
}
