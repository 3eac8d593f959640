// States in words with a colour and a shape, never a colour alone.
import type { ReactNode } from 'react'
import type { Health } from '../api/webhook-types.ts'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'none'

export function Badge({ tone = 'none', icon, children }: { tone?: Tone; icon?: IconName; children: ReactNode }) {
  return (
    <span className={`badge ${tone}`}>
      {icon && <Icon name={icon} size={12} />}
      {children}
    </span>
  )
}

const states: Record<string, [tone: Tone, icon: IconName, words: string]> = {
  completed: ['good', 'check', 'Delivered'],
  error: ['bad', 'cross', 'Failed'],
  pending: ['warn', 'clock', 'Pending'],
}

// A pending event that failed before is being retried; one that was delivered and is pending again is being resent.
export function EventBadge({ state, tries, delivered }: { state: string; tries: number; delivered?: boolean }) {
  const [tone, icon, words] = states[state] ?? ['none', 'clock', state]
  const shown = state === 'pending' && tries > 0 ? (delivered ? 'Resending' : 'Retrying') : words
  return (
    <Badge tone={tone} icon={icon}>
      {shown}
    </Badge>
  )
}

const orderStates: Record<string, [tone: Tone, icon: IconName, words: string]> = {
  awaiting_confirmation: ['info', 'clock', 'Awaiting confirmation'],
  pending: ['warn', 'clock', 'Pending'],
  processing: ['warn', 'resend', 'Processing'],
  completed: ['good', 'check', 'Completed'],
  cancelled: ['none', 'cross', 'Cancelled'],
}

export function OrderBadge({ state }: { state: string }) {
  const [tone, icon, words] = orderStates[state] ?? ['none', 'clock', state]
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  )
}

export function orderStateWords(state: string): string {
  return orderStates[state]?.[2] ?? state
}

const healths: Record<Health, [tone: Tone, icon: IconName, words: string]> = {
  ok: ['good', 'check', 'Healthy'],
  failing: ['bad', 'warn', 'Failing'],
  paused: ['warn', 'pause', 'Paused'],
  disabled: ['none', 'cross', 'Disabled'],
  idle: ['none', 'clock', 'Idle'],
}

export function HealthBadge({ health }: { health: Health }) {
  const [tone, icon, words] = healths[health] ?? ['none', 'clock', health]
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  )
}

export function words(code: string): string {
  const text = code.replaceAll(/[_-]/g, ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
