// Two versions of a configuration, compared.
import { useRead } from '../../api/cache.ts'
import type { ConfigurationVersion, Partner } from '../../api/operator-types.ts'
import { useQuery } from '../../app/router.tsx'
import { Button } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { pretty } from './configuration.tsx'
import { DiffView } from './diff-view.tsx'

export function VersionsPage({ id }: { id: string }) {
  const partnerPath = `/partners/${encodeURIComponent(id)}`
  const path = `${partnerPath}/configuration/versions?limit=50`
  const partner = useRead<Partner>(partnerPath)
  const list = usePages<'versions', ConfigurationVersion>(path, 'versions', ({ version }) => String(version))
  const [query, setQuery] = useQuery()
  const versions = list.rows ?? []
  const of = (version: string | undefined) => versions.find((each) => String(each.version) === version)
  const after = of(query.to) ?? versions[0]
  const before = of(query.from) ?? versions[after ? versions.indexOf(after) + 1 : 1] ?? versions[0]
  const options = versions.map(({ version }) => ({ value: String(version), label: `Version ${version}` }))
  return (
    <Page
      title="Versions"
      name="Configuration versions"
      about={partner.data?.name}
      back={{ to: `${partnerPath}/configuration`, label: 'Configuration' }}
      actions={<CurlButton call={{ path }} />}
    >
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={10} />}
      {before && after && (
        <>
          <Card
            title="What changed"
            actions={
              <>
                <SelectField
                  label="From"
                  hideLabel
                  value={String(before.version)}
                  onText={(from) => setQuery({ from })}
                  options={options}
                />
                <span className="faint">→</span>
                <SelectField
                  label="To"
                  hideLabel
                  value={String(after.version)}
                  onText={(to) => setQuery({ to })}
                  options={options}
                />
              </>
            }
          >
            {versions.length < 2 ? (
              <Empty icon="clock" title="There is one version only">
                Once another is written, the two can be compared here.
              </Empty>
            ) : (
              <DiffView
                before={pretty(before.configuration)}
                after={pretty(after.configuration)}
                label={`From version ${before.version} to ${after.version}`}
              />
            )}
          </Card>
          <Card title="All versions" flush>
            <Table
              label="Versions"
              rows={versions}
              keyOf={({ version }) => String(version)}
              columns={[
                { name: 'Version', cell: ({ version }) => <strong>{version}</strong> },
                { name: 'Written by', wide: true, cell: ({ created_by }) => created_by },
                { name: 'When', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  name: 'Compare',
                  end: true,
                  cell: ({ version }) =>
                    version > 1 && (
                      <Button
                        small
                        look="quiet"
                        aria-label={`What it changed: version ${version}`}
                        onClick={() => setQuery({ from: String(version - 1), to: String(version) })}
                      >
                        What it changed
                      </Button>
                    ),
                },
              ]}
            />
            <More {...list.more} />
          </Card>
        </>
      )}
    </Page>
  )
}
