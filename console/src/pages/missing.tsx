// An address that leads nowhere.
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'

export function Missing() {
  return (
    <Page title="Nothing here" name="Not found">
      <Empty
        icon="search"
        title="There is no page at this address"
        action={<LinkButton to="/">To the start</LinkButton>}
      />
    </Page>
  )
}
