// A window above the page: the browser's own dialog, which keeps the focus inside and closes with Escape.
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { type ApiError, toApiError } from '../api/http.ts'
import { Button, IconButton } from './button.tsx'
import { ErrorNotice } from './notice.tsx'

export function Dialog({
  title,
  onClose,
  children,
  wide,
}: {
  title: string
  onClose: () => void
  children: ReactNode
  wide?: boolean
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const shown = dialog.current!
    const before = document.activeElement
    if (!shown.open) shown.showModal()
    // What is to be filled in comes first; otherwise the answers.
    shown.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too; the click is for those who use a mouse
    <dialog
      ref={dialog}
      className={`dialog ${wide ? 'wide' : ''}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close()
      }}
    >
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="cross" label="Close" onClick={() => dialog.current?.close()} />
      </div>
      {children}
    </dialog>
  )
}

// A question with an answer that acts: the window closes when it worked and shows the failure when it did not.
export function Ask({
  title,
  act,
  onClose,
  onDone,
  look = 'primary',
  verb,
  children,
  disabled,
}: {
  title: string
  verb: string
  act: () => Promise<unknown>
  onClose: () => void
  onDone?: () => void
  look?: 'primary' | 'danger'
  children: ReactNode
  disabled?: boolean
}) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy || disabled) return
    setBusy(true)
    setError(undefined)
    try {
      await act()
      onDone?.()
      onClose()
    } catch (failure) {
      setError(toApiError(failure))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="dialog-body">
        {children}
        {error && <ErrorNotice error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button look={look} type="submit" busy={busy} disabled={disabled}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
