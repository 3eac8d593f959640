// The configuration editor: checked while one types (form and schema), compared with what is in force, and then written as a new
// version, unless somebody else was faster.
import { useMemo, useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { type ApiError, call, toApiError } from '../../api/http.ts'
import type { Configuration, Partner } from '../../api/operator-types.ts'
import { useLack } from '../../app/session.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { ErrorNotice, Loaded, Notice } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { useToast } from '../../ui/toast.tsx'
import { DiffView } from './diff-view.tsx'
import { Editor } from './editor.tsx'
import { findPlaces, lineOf } from './json-places.ts'
import { checkSchema, type Schema, type SchemaDocument } from './schema-check.ts'

interface Read {
  readonly configuration: Configuration
  readonly etag: string
}

export const pretty = (value: unknown) => JSON.stringify(value, null, 2)

export function ConfigurationPage({ id }: { id: string }) {
  const partnerPath = `/partners/${encodeURIComponent(id)}`
  const path = `${partnerPath}/configuration`
  const partner = useRead<Partner>(partnerPath)
  const read = useRead<Read>(path, async () => {
    const { data, headers } = await call<Configuration>('GET', path)
    return { configuration: data, etag: headers.get('etag') ?? '' }
  })
  return (
    <Page
      title="Configuration"
      name="Configuration"
      about={partner.data?.name}
      back={{ to: partnerPath, label: partner.data?.name ?? 'Partner' }}
      actions={
        <>
          <CurlButton call={{ path }} />
          <LinkButton icon="clock" to={`${partnerPath}/versions`}>
            Versions
          </LinkButton>
        </>
      }
    >
      <Loaded read={read} lines={12}>
        {(data) => <Form key={data.etag} path={path} read={data} />}
      </Loaded>
    </Page>
  )
}

function useSchema(): { document: SchemaDocument; schema: Schema } | undefined {
  const read = useRead<SchemaDocument>(
    'openapi',
    async () => (await fetch('/openapi.json')).json() as Promise<SchemaDocument>,
  )
  const found = Object.entries(read.data?.paths ?? {}).find(([path]) =>
    path.endsWith('/partners/{partner_id}/configuration'),
  )
  const schema = found?.[1].put?.requestBody?.content['application/json']?.schema
  return read.data && schema ? { document: read.data, schema } : undefined
}

function Form({ path, read: { configuration, etag } }: { path: string; read: Read }) {
  const before = useMemo(() => pretty(configuration), [configuration])
  const [text, setText] = useState(before)
  const [reviewing, setReviewing] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const lack = useLack('admin')
  const schema = useSchema()
  const toast = useToast()
  const places = useMemo(() => findPlaces(text), [text])
  const mistakes = useMemo(() => {
    if (places.mistake) return []
    return schema ? checkSchema(schema.document, schema.schema, JSON.parse(text)) : []
  }, [places, schema, text])
  const problems = places.mistake ? [`Line ${places.mistake.line}: ${places.mistake.message}.`] : mistakes
  const refusedLine = error?.code === 'invalid_parameters' ? lineOf(places, error.message) : undefined
  const wrongLines = new Set(
    [places.mistake?.line, refusedLine, ...mistakes.map((each) => lineOf(places, each))].filter(
      (line) => line !== undefined,
    ),
  )
  const changed = !places.mistake && pretty(JSON.parse(text)) !== before

  const write = async () => {
    setBusy(true)
    setError(undefined)
    try {
      const { headers } = await call('PUT', path, { body: JSON.parse(text), headers: { 'if-match': etag } })
      toast.say(`Written as version ${headers.get('etag')?.replaceAll('"', '') ?? ''}. The partner sees it now.`)
      refresh('/partners', '/audit-log')
    } catch (failure) {
      setError(toApiError(failure))
    } finally {
      setBusy(false)
      setReviewing(false)
    }
  }

  return (
    <>
      {lack && (
        <Notice kind="info" icon="keys" title="You can read this, not write it">
          {<p>{lack}</p>}
        </Notice>
      )}
      {error && (
        <ErrorNotice
          error={error}
          title={error.code === 'conflict' ? 'Somebody else has written it meanwhile' : 'It was refused'}
        >
          {refusedLine !== undefined && <p>That is line {refusedLine}.</p>}
          {error.code === 'conflict' && (
            <Button small onClick={() => refresh(path)}>
              Read theirs (what you typed is lost)
            </Button>
          )}
        </ErrorNotice>
      )}
      <Card
        title={`Version ${etag.replaceAll('"', '')}`}
        about="The whole configuration, as JSON"
        actions={
          <>
            <Button small look="quiet" disabled={!changed && text === before} onClick={() => setText(before)}>
              Undo all
            </Button>
            <GuardedButton
              needs="admin"
              look="primary"
              disabled={!changed || problems.length > 0}
              onClick={() => setReviewing(true)}
            >
              Review and write
            </GuardedButton>
          </>
        }
      >
        <Editor
          label="Configuration as JSON"
          text={text}
          onText={(next) => {
            setText(next)
            setError(undefined)
          }}
          wrongLines={wrongLines}
          readOnly={lack !== undefined}
        />
        <div className="problems" role="status">
          {problems.length === 0 ? (
            <p className="good-text">Well-formed, and as the schema wants it.</p>
          ) : (
            <ul>
              {problems.map((problem) => {
                const line = lineOf(places, problem)
                return (
                  <li key={problem} className="bad-text">
                    {problem}
                    {line !== undefined && !places.mistake && ` (line ${line})`}
                  </li>
                )
              })}
            </ul>
          )}
        </div>
      </Card>
      {reviewing && (
        <Dialog wide title="Write this as a new version?" onClose={() => setReviewing(false)}>
          <div className="dialog-body">
            <DiffView before={before} after={pretty(JSON.parse(text))} label="What changes" />
            <p className="about">It holds at once, for every call of the partner. Earlier versions stay readable.</p>
            <div className="dialog-foot">
              <Button onClick={() => setReviewing(false)}>Go on editing</Button>
              <Button look="primary" busy={busy} onClick={write}>
                Write
              </Button>
            </div>
          </div>
        </Dialog>
      )}
    </>
  )
}
