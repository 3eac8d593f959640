// Go to any page by its name or to anything by its id, from anywhere, with the keyboard.
import { type KeyboardEvent, useId, useState } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { navigation, placeOf } from './nav.ts'
import { navigate } from './router.tsx'
import { lackOf, useSession } from './session.tsx'

interface Target {
  readonly to: string
  readonly label: string
  readonly icon: IconName
}

export function Jump({ onClose }: { onClose: () => void }) {
  const { session } = useSession()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  const wanted = text.trim()
  const pages = navigation
    .flatMap((group) => group.items)
    .filter(({ needs }) => lackOf(session, needs) === undefined)
    .filter(({ label }) => label.toLowerCase().includes(wanted.toLowerCase()))
  const place = placeOf(wanted)
  const targets: Target[] = [...(place ? [{ to: place, label: wanted, icon: 'right' as const }] : []), ...pages]
  const chosen = Math.min(at, targets.length - 1)
  const go = (target: Target | undefined) => {
    if (!target) return
    onClose()
    navigate(target.to)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, targets.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0))
    else if (event.key === 'Enter') go(targets[chosen])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div className="jump">
        <input
          className="input"
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={targets[chosen] ? `${listId}-${chosen}` : undefined}
          aria-label="A page, or an id"
          placeholder={
            'scopes' in session ? 'A page, or an id: evt_…, ord_…, sub_…, req_…' : 'A page, or an id: ptr_…, ord_…'
          }
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKey}
        />
        <div className="jump-list" id={listId} role="listbox" aria-label="Places">
          {targets.map((target, i) => (
            <div
              key={target.to}
              id={`${listId}-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === chosen}
              onClick={() => go(target)}
              onKeyDown={onKey}
            >
              <Icon name={target.icon} />
              {target.label}
            </div>
          ))}
        </div>
        {targets.length === 0 && (
          <p className="faint">Nothing is called that, and it is not an id that can be opened.</p>
        )}
      </div>
    </Dialog>
  )
}
