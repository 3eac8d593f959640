// A new withdrawal: from which account, how much, to whom. It only creates the order; money moves when it is confirmed on the next
// page, where the fee and what arrives are known.
import { type FormEvent, useRef, useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { type ApiError, nextKey, onceKey, send, toApiError } from '../../api/http.ts'
import type { Account, Instruction, Order, Page as PageOf, SettlementAccount } from '../../api/types.ts'
import { navigate, useQuery } from '../../app/router.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Empty, ErrorNotice, Loaded } from '../../ui/notice.tsx'
import { compareDecimals, isDecimal, money, placesOf } from '../../ui/number.ts'
import { Card, Page } from '../../ui/page.tsx'
import { DestinationForm } from './destination-form.tsx'
import { destinationName, typeName } from './destination-words.tsx'

export function NewOrderPage() {
  const instructions = useRead<PageOf<'outgoing_instructions', Instruction>>('/partner/outgoing-instructions?limit=100')
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<Instruction>()
  return (
    <Page title="New withdrawal" name="New withdrawal" back={{ to: '/orders', label: 'Orders' }}>
      <Loaded read={instructions}>
        {({ outgoing_instructions }) => {
          const known =
            made && !outgoing_instructions.some(({ id }) => id === made.id)
              ? [made, ...outgoing_instructions]
              : outgoing_instructions
          return (
            <Card>
              {known.length === 0 ? (
                <Empty
                  icon="destinations"
                  title="First, whom shall it pay?"
                  action={
                    <Button look="primary" icon="plus" onClick={() => setMaking(true)}>
                      New destination
                    </Button>
                  }
                >
                  A withdrawal pays to a destination that you define once.
                </Empty>
              ) : (
                <OrderForm key={made?.id} destinations={known} first={made?.id} onNew={() => setMaking(true)} />
              )}
            </Card>
          )
        }}
      </Loaded>
      {making && (
        <Dialog title="New destination" onClose={() => setMaking(false)}>
          <div className="dialog-body">
            <DestinationForm
              onMade={(instruction) => {
                setMade(instruction)
                setMaking(false)
              }}
            />
          </div>
        </Dialog>
      )}
    </Page>
  )
}

function OrderForm({
  destinations,
  first,
  onNew,
}: {
  destinations: readonly Instruction[]
  first: string | undefined
  onNew: () => void
}) {
  const [query] = useQuery()
  const account = useRead<Account>('/partner')
  const accounts = useRead<PageOf<'settlement_accounts', SettlementAccount>>('/partner/settlement-accounts')
  const wanted = first ?? query.destination
  const [to, setTo] = useState(destinations.find(({ id }) => id === wanted)?.id ?? destinations[0]!.id)
  const [amount, setAmount] = useState('')
  const [reference, setReference] = useState('')
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const once = useRef(onceKey())

  const destination = destinations.find(({ id }) => id === to) ?? destinations[0]!
  const { currency } = destination
  const balance = accounts.data?.settlement_accounts.find((each) => each.currency === currency)
  const places = account.data?.available_assets.find(({ id }) => id === currency)?.decimal_places
  const mistake = amountMistake(amount.trim(), places, balance, currency)
  const body = {
    operation: 'withdrawal',
    ...(reference.trim() ? { reference_id: reference.trim() } : {}),
    withdrawal: {
      currency,
      amount: amount.trim(),
      type: 'outgoing_instruction',
      outgoing_instruction: { instruction_id: destination.id },
    },
  }
  const refused = (field: string) => (error?.message.startsWith(field) ? error.message : undefined)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (busy || mistake) return
    setBusy(true)
    setError(undefined)
    try {
      const order = await send<Order>('POST', '/partner/orders', body, once.current)
      refresh('/partner/orders')
      navigate(`/orders/${order.id}`)
    } catch (failure) {
      const refusal = toApiError(failure)
      once.current = nextKey(once.current, refusal)
      setError(refusal)
      setBusy(false)
    }
  }

  return (
    <form className="form" onSubmit={submit} noValidate>
      <div className="with-button">
        <SelectField
          label="Destination"
          value={destination.id}
          onText={(id) => {
            setTo(id)
            setError(undefined)
          }}
          options={destinations.map((each) => ({
            value: each.id,
            label: `${destinationName(each)} · ${typeName(each.type)} · ${each.currency}`,
          }))}
        />
        <Button icon="plus" onClick={onNew}>
          New
        </Button>
      </div>
      <div className="form-row">
        <TextField
          label={`Amount in ${currency}`}
          inputMode="decimal"
          placeholder="0.00"
          value={amount}
          onText={(text) => {
            setAmount(text)
            setError(undefined)
          }}
          hint={
            balance
              ? `Available: ${money(balance.available)} ${currency}. The fee comes out of the amount.`
              : `There is no ${currency} account yet.`
          }
          error={(tried || amount !== '' ? mistake : undefined) ?? refused('withdrawal.amount')}
        />
        <TextField
          label="Your reference"
          optional
          maxLength={200}
          hint="Used only once"
          value={reference}
          onText={(text) => {
            setReference(text)
            setError(undefined)
          }}
          error={refused('reference_id')}
        />
      </div>
      {error && <ErrorNotice error={error} />}
      <div className="form-foot">
        <Button look="primary" type="submit" busy={busy}>
          Continue
        </Button>
        <LinkButton to="/orders">Cancel</LinkButton>
        <CurlButton call={{ method: 'POST', path: '/partner/orders', body }} />
      </div>
      <p className="faint small-text">Nothing moves yet: you see the fee and confirm on the next page.</p>
    </form>
  )
}

function amountMistake(
  amount: string,
  places: number | undefined,
  balance: SettlementAccount | undefined,
  currency: string,
): string | undefined {
  if (!isDecimal(amount)) return 'An amount such as 1250.00: digits, and a dot before decimals.'
  if (/^[0.]+$/.test(amount)) return 'It must be above zero.'
  if (places !== undefined && placesOf(amount) > places) return `${currency} has ${places} decimals.`
  if (balance && compareDecimals(amount, balance.available) > 0)
    return `More than the ${money(balance.available)} ${currency} available.`
  return undefined
}
