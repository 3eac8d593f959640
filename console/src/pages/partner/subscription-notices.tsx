// What is wrong with a subscription, and the way out: why it is disabled, how to enable it and get what was missed.

import { refresh } from '../../api/cache.ts'
import { send } from '../../api/http.ts'
import type { BulkResend, Subscription, SubscriptionStats } from '../../api/webhook-types.ts'
import { Link, navigate } from '../../app/router.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Notice } from '../../ui/notice.tsx'
import { words } from '../../ui/status.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { useAction, useToast } from '../../ui/toast.tsx'
import { attemptWords, sentence } from './explain.ts'

export function DisabledNotice({ subscription }: { subscription: Subscription }) {
  const [busy, run] = useAction()
  const toast = useToast()
  const enable = (replay: boolean) =>
    run(async () => {
      const path = `/webhooks/subscriptions/${subscription.id}/enable`
      const reply = await send<{ replay: BulkResend | null }>('POST', path, { replay })
      refresh('/webhooks')
      toast.say(replay ? 'Enabled. What was missed is being sent.' : 'Enabled.')
      if (reply.replay) navigate(`/events?subscription_id=${subscription.id}&resend=${reply.replay.id}`)
    })
  return (
    <Notice
      kind="warn"
      icon="pause"
      title="This subscription is disabled"
      actions={
        <>
          <GuardedButton needs="webhooks:write" look="primary" busy={busy} onClick={() => enable(true)}>
            Enable and resend what was missed
          </GuardedButton>
          <GuardedButton needs="webhooks:write" onClick={() => enable(false)}>
            Only enable
          </GuardedButton>
        </>
      }
    >
      <p>
        {subscription.disabled_reason
          ? `Why: ${reasonWords[subscription.disabled_reason] ?? words(subscription.disabled_reason)}. `
          : ''}
        Nothing is lost: events are kept while it is disabled.
      </p>
    </Notice>
  )
}

const reasonWords: Record<string, string> = {
  disabled_by_partner: 'somebody with one of your keys disabled it',
  endpoint_gone: 'the endpoint answered 410 Gone',
  failing_for_five_days: 'every attempt of five days failed',
}

export function HealthNotice({ own }: { own: SubscriptionStats }) {
  if (own.health !== 'failing' && own.health !== 'paused') return null
  const last = own.last_error
  return (
    <Notice
      kind={own.health === 'failing' ? 'bad' : 'warn'}
      title={own.health === 'failing' ? 'This endpoint is failing' : 'This endpoint is being spared'}
    >
      {own.failing_since && (
        <p>
          Nothing has got through since <Time at={own.failing_since} look="full" />.
        </p>
      )}
      {own.health === 'paused' && own.paused_until && (
        <p>
          After many failures in a row it gets a pause. Next try in{' '}
          <Countdown until={own.paused_until} past="a moment" />; pauses use up no tries.
        </p>
      )}
      {last && (
        <p>
          {sentence(attemptWords(last).what)} {attemptWords(last).advice}{' '}
          <Link to={`/events/${last.event_id}`}>See that attempt</Link>
        </p>
      )}
    </Notice>
  )
}
