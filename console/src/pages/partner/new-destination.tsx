// A new destination: the fields that its type asks for, with their rules checked while one types.
import { navigate } from '../../app/router.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { DestinationForm } from './destination-form.tsx'

export function NewDestinationPage() {
  return (
    <Page title="New destination" name="New destination" back={{ to: '/destinations', label: 'Destinations' }}>
      <Card>
        <DestinationForm onMade={({ id }) => navigate(`/destinations/${id}`)} />
      </Card>
    </Page>
  )
}
