// Buttons. One that is at work says so and cannot be pressed twice.
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from '../app/router.tsx'
import { Icon, type IconName } from './icon.tsx'

type Look = 'plain' | 'primary' | 'danger' | 'quiet'
export interface Common {
  look?: Look
  icon?: IconName
  small?: boolean
  busy?: boolean
}
export type ButtonProps = Common & ButtonHTMLAttributes<HTMLButtonElement>

export function Button({ look = 'plain', icon, small, busy, children, className = '', onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${look} ${small ? 'small' : ''} ${className}`}
      aria-busy={busy || undefined}
      {...rest}
      onClick={(event) => {
        if (busy) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {busy ? <span className="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

export function LinkButton({
  to,
  look = 'plain',
  icon,
  small,
  children,
}: Omit<Common, 'busy'> & { to: string; children: ReactNode }) {
  return (
    <Link to={to} className={`button ${look} ${small ? 'small' : ''}`}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  )
}

export function IconButton({
  icon,
  label,
  className = '',
  ...rest
}: { icon: IconName; label: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  )
}
