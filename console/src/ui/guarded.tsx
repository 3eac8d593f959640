// Actions that a scope or role guards: one that the caller lacks stays visible and says what is missing instead of acting.
import type { Role, Scope } from '../api/types.ts'
import { useLack } from '../app/session.tsx'
import { Button, type ButtonProps, LinkButton } from './button.tsx'
import { useToast } from './toast.tsx'

export function GuardedButton({ needs, onClick, ...rest }: ButtonProps & { needs: Scope | Role }) {
  const lack = useLack(needs)
  const toast = useToast()
  if (lack === undefined) return <Button onClick={onClick} {...rest} />
  return (
    <Button
      {...rest}
      aria-disabled="true"
      title={lack}
      onClick={(event) => {
        event.preventDefault()
        toast.say(lack, 'bad')
      }}
    />
  )
}

export function GuardedLink({ needs, ...rest }: Parameters<typeof LinkButton>[0] & { needs: Scope | Role }) {
  const lack = useLack(needs)
  if (lack === undefined) return <LinkButton {...rest} />
  const { to: _, ...button } = rest
  return <GuardedButton needs={needs} {...button} />
}
