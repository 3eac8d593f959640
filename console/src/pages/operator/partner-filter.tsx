// Narrows a list to one partner, by its id in the address.
import { useQuery } from '../../app/router.tsx'
import { TextField } from '../../ui/fields.tsx'

export function PartnerFilter() {
  const [search, setSearch] = useQuery()
  return (
    <TextField
      label="Partner id"
      hideLabel
      type="search"
      placeholder="Only of partner ptr_…"
      value={search.partner_id ?? ''}
      onText={(text) => setSearch({ partner_id: text.trim() })}
    />
  )
}
