// The audit log: every change, who made it, and with which request.
import { query } from '../../api/http.ts'
import { useQuery } from '../../app/router.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { AuditTable } from './audit-table.tsx'
import { PartnerFilter } from './partner-filter.tsx'

export function AuditLogPage() {
  const [search] = useQuery()
  return (
    <Page
      title="Audit log"
      name="Audit log"
      about="Written in the same transaction as the deed; never changed"
      actions={<CurlButton call={{ path: `/audit-log${query({ partner_id: search.partner_id, limit: 50 })}` }} />}
    >
      <search className="filters">
        <PartnerFilter />
      </search>
      <Card flush>
        <AuditTable partnerId={search.partner_id} limit={50} />
      </Card>
    </Page>
  )
}
