// The frame of a page: its heading (which takes the focus when the page opens), what can be done on it, and cards of content.
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { Link } from '../app/router.tsx'
import { Icon } from './icon.tsx'

export function Page({
  title,
  name,
  about,
  back,
  actions,
  children,
}: {
  title: ReactNode
  name: string // for the browser's tab
  about?: ReactNode
  back?: { to: string; label: string }
  actions?: ReactNode
  children: ReactNode
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${name} · Partner Service`
  }, [name])
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
    window.scrollTo(0, 0)
  }, [])
  return (
    <>
      <header className="page-head">
        <div className="page-title">
          {back && (
            <Link to={back.to} className="back">
              <Icon name="left" size={12} />
              {back.label}
            </Link>
          )}
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about && <p className="about">{about}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  )
}

export function Card({
  title,
  about,
  actions,
  flush,
  children,
}: {
  title?: ReactNode
  about?: ReactNode
  actions?: ReactNode
  flush?: boolean // its content reaches the edges: tables
  children: ReactNode
}) {
  const id = useId()
  return (
    <section className={`card ${flush ? 'flush' : ''}`} aria-labelledby={title ? id : undefined}>
      {title && (
        <div className="card-head">
          <div>
            <h2 id={id}>{title}</h2>
            {about && <p className="about">{about}</p>}
          </div>
          {actions && <div className="card-actions">{actions}</div>}
        </div>
      )}
      <div className="card-body">{children}</div>
    </section>
  )
}

// Names and values.
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode] | false | null)[] }) {
  return (
    <dl className="facts">
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

export function Figure({
  name,
  value,
  note,
  tone,
}: {
  name: string
  value: ReactNode
  note?: ReactNode
  tone?: 'good' | 'bad' | 'warn'
}) {
  return (
    <div className="figure">
      <span className="figure-name">{name}</span>
      <span className={`figure-value ${tone ?? ''}`}>{value}</span>
      {note && <span className="figure-note">{note}</span>}
    </div>
  )
}

export function Progress({ done, label }: { done: number | null; label: string }) {
  return <progress className="progress" aria-label={label} max={1} {...(done === null ? {} : { value: done })} />
}
