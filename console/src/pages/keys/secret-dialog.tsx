// What is shown once: a new key's secret, and a sign-in link.
import type { ApiKey, SignInLink } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Countdown } from '../../ui/time.tsx'

export function SecretDialog({
  created,
  onClose,
}: {
  created: Pick<ApiKey, 'id' | 'name' | 'secret'>
  onClose: () => void
}) {
  return (
    <Dialog title={`${created.name} was created`} onClose={onClose}>
      <div className="dialog-body">
        {created.secret ? (
          <>
            <Notice kind="warn" icon="keys" title="Copy it now: it is not shown again">
              <p>Only its hash is kept. Whoever has it can do what the key may do.</p>
            </Notice>
            <Code text={created.secret} label="Secret" />
          </>
        ) : (
          <p>
            Sign your tokens with the private key, with <code>{created.id}</code> as <code>iss</code>.
          </p>
        )}
        <div className="dialog-foot">
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

export function LinkDialog({ link, keyName, onClose }: { link: SignInLink; keyName: string; onClose: () => void }) {
  return (
    <Dialog title="Sign-in link" onClose={onClose}>
      <div className="dialog-body">
        <p>
          Whoever opens it is signed in to the partner’s console with the key <strong>{keyName}</strong>. It works once,
          for <Countdown until={link.expires_at} past="0 s" /> more.
        </p>
        <Code text={link.url} label="Sign-in link" />
        <div className="dialog-foot">
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
