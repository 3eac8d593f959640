// What surrounds every page: the menu (a drawer on narrow screens), who is signed in, the look, and the way to any id.
import { type ReactNode, useEffect, useState } from 'react'
import { listener } from '../api/http.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Badge } from '../ui/status.tsx'
import { Jump } from './jump.tsx'
import { useLiveState } from './live.tsx'
import { navigation } from './nav.ts'
import { Link, usePath } from './router.tsx'
import { useLack, useSession } from './session.tsx'
import { type Theme, useTheme } from './theme.ts'

export function Shell({ children }: { children: ReactNode }) {
  const [menu, setMenu] = useState(false)
  const [jumping, setJumping] = useState(false)
  const path = usePath()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the drawer
  useEffect(() => setMenu(false), [path])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        setJumping(true)
      }
      if (event.key === 'Escape') setMenu(false)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <div className={`shell ${menu ? 'menu-open' : ''}`}>
      <a className="skip" href="#page">
        Skip to content
      </a>
      <div className="topbar">
        <IconButton icon={menu ? 'cross' : 'menu'} label="Menu" aria-expanded={menu} onClick={() => setMenu(!menu)} />
        <Brand />
        <IconButton icon="search" label="Go to page or id" onClick={() => setJumping(true)} />
      </div>
      <Side onJump={() => setJumping(true)} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: Escape and the menu button close it too */}
      <div className="scrim" onClick={() => setMenu(false)} />
      <main id="page" className="main" tabIndex={-1}>
        <div className="content">{children}</div>
      </main>
      {jumping && <Jump onClose={() => setJumping(false)} />}
    </div>
  )
}

function Brand() {
  return (
    <Link to="/" className="brand">
      <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M9 22V10h6.500a4 4 0 0 1 0 8H13m6-8h4m-4 6h4m-7 6h7" />
      </svg>
      <span>Partner Service</span>
    </Link>
  )
}

function Side({ onJump }: { onJump: () => void }) {
  return (
    <div className="side">
      <Brand />
      <button type="button" className="jump-button" onClick={onJump}>
        <Icon name="search" size={14} />
        <span>Go to…</span>
        <kbd>{navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl '}K</kbd>
      </button>
      <nav aria-label="Main">
        {navigation.map(({ title, items }) => (
          <div key={title ?? 'top'} className="nav-group">
            {title && <p className="nav-title">{title}</p>}
            {items.map((item) => (
              <NavLink key={item.to} {...item} />
            ))}
          </div>
        ))}
      </nav>
      <Foot />
    </div>
  )
}

function NavLink({ to, label, icon, needs }: (typeof navigation)[number]['items'][number]) {
  const path = usePath()
  if (useLack(needs) !== undefined) return null
  const here = to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`)
  return (
    <Link to={to} className="nav-link" aria-current={here ? 'page' : undefined}>
      <Icon name={icon} />
      {label}
    </Link>
  )
}

const themes: Record<Theme, { next: Theme; icon: 'system' | 'sun' | 'moon'; label: string }> = {
  system: { next: 'light', icon: 'system', label: 'Look: as the system. Change to light' },
  light: { next: 'dark', icon: 'sun', label: 'Look: light. Change to dark' },
  dark: { next: 'system', icon: 'moon', label: 'Look: dark. Change to the system’s' },
}

function Foot() {
  const { session, signOut } = useSession()
  const [theme, setTheme] = useTheme()
  const { next, icon, label } = themes[theme]
  const partner = 'scopes' in session
  return (
    <div className="side-foot">
      <LiveMark />
      <div className="who">
        <span className="who-name">{partner ? (session.partner_name ?? session.partner_id) : session.name}</span>
        <span className="who-key">{partner ? session.key_name : session.roles.join(', ')}</span>
      </div>
      <div className="foot-row">
        <Badge tone={session.mode === 'sandbox' ? 'warn' : 'info'}>
          {session.mode === 'sandbox' ? 'Sandbox' : 'Production'}
        </Badge>
        {listener === 'operator' && <Badge>Operator</Badge>}
        <span className="spacer" />
        <IconButton icon={icon} label={label} onClick={() => setTheme(next)} />
        <IconButton icon="out" label="Sign out" onClick={signOut} />
      </div>
    </div>
  )
}

const liveWords = { live: 'Live', connecting: 'Connecting…', away: 'Reconnecting…' }

function LiveMark() {
  const state = useLiveState()
  if (state === undefined) return null
  return (
    <p className={`live-mark ${state}`} role="status">
      <i aria-hidden="true" />
      {liveWords[state]}
    </p>
  )
}
