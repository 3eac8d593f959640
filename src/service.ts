// startService(config): opens the database, migrates, starts both listeners; returns stop(), which ends everything in order:
// no new requests, those under way are finished, then the database is closed.
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { startChangeFeed } from './db/changes.ts'
import { claimDatabase } from './db/installation.ts'
import { openDatabase } from './db/open.ts'
import { startEngine } from './delivery/engine.ts'
import { startRetention } from './delivery/retention.ts'
import { createSender, type Resolve } from './delivery/sender.ts'
import { createTestSender } from './delivery/test-event.ts'
import { operatorDocument, partnerDocument } from './documents.ts'
import { sessionCookie } from './http/cookies.ts'
import { forgetOldReplies } from './http/idempotency.ts'
import { createListener } from './http/listener.ts'
import { openRoute, openRoutes } from './http/open-routes.ts'
import type { Reply } from './http/route.ts'
import { serveConsole } from './http/static-files.ts'
import { pruneEntries } from './live/entries.ts'
import { createStreams } from './live/streams.ts'
import { startWatching, tellingWatchers } from './live/watching.ts'
import { addProcessMetrics, createMetrics } from './metrics.ts'
import { createChanges } from './operator/changes.ts'
import { deliveryAdministration } from './operator/delivery-routes.ts'
import { checkHost, createOperatorGate } from './operator/gate.ts'
import { orderAdministration } from './operator/order-routes.ts'
import { partnerAdministration } from './operator/partner-routes.ts'
import { metricsReply, serviceAdministration } from './operator/service-routes.ts'
import { operatorSessionRoutes } from './operator/session-routes.ts'
import { cacheOperatorSessions, deleteExpiredOperatorSessions } from './operator/sessions.ts'
import { cacheOperatorTokens } from './operator/tokens.ts'
import { webhookAdministration } from './operator/webhook-routes.ts'
import { startOrderJobs } from './orders/jobs.ts'
import { orderRoutes } from './orders/routes.ts'
import { settlementRoutes } from './orders/settlement-routes.ts'
import { createDirectory } from './partners/directory.ts'
import { createPartnerGate } from './partners/gate.ts'
import { deleteExpiredTokens } from './partners/queries.ts'
import { forgetOldRequests, keepRequestLog } from './partners/request-log.ts'
import { partnerRoutes } from './partners/routes.ts'
import { deleteExpiredSessions } from './partners/session-queries.ts'
import { sessionRoutes } from './partners/session-routes.ts'
import { cacheSessions } from './partners/sessions.ts'
import { trackKeyUsage } from './partners/usage.ts'
import { ensureDemoPartner, ensureMasterKey, ensureOperatorToken } from './sandbox/demo.ts'
import { sandboxRoutes } from './sandbox/routes.ts'
import { type Signer, startSigner } from './signing/signer.ts'
import { version } from './version.ts'
import { startBulkWorker } from './webhooks/bulk.ts'
import { eventRoutes } from './webhooks/event-routes.ts'
import { ensureOperationsHook } from './webhooks/operations.ts'
import { createPublisher } from './webhooks/publisher.ts'
import { subscriptionRoutes } from './webhooks/routes.ts'
import { createWaker } from './webhooks/signals.ts'
import { statisticsRoutes } from './webhooks/statistics-routes.ts'
import { describeEntries, streamRoutes } from './webhooks/stream-routes.ts'
import { createTargetGuard } from './webhooks/target.ts'

const tidyEveryMs = 10 * 60_000
const builtConsole = fileURLToPath(new URL('../console/dist/', import.meta.url))

export interface Service {
  readonly url: string
  readonly operatorUrl: string
  readonly operatorToken: string
  readonly demo: { readonly partnerId: string; readonly secret: string } | undefined
  stop(): Promise<void>
}

export interface StartOptions {
  readonly log: Logger
  readonly now?: () => Date
  readonly resolve?: Resolve // how webhook host names become addresses; the system's resolver by default
  readonly consoleFolder?: string // where the built console lies; console/dist of this package by default
  // Called once everything is set up but before the listeners answer.
  readonly beforeReady?: (service: Omit<Service, 'stop'>) => void
}

export async function startService(
  config: Config,
  { log, now = () => new Date(), resolve, consoleFolder = builtConsole, beforeReady }: StartOptions,
): Promise<Service> {
  const metrics = createMetrics()
  addProcessMetrics(metrics, version)
  const opened = await openDatabase(config, log)
  const undo: (() => Promise<unknown>)[] = [() => opened.close()]
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    await claimDatabase(opened, config.mode)
    const feed = await startChangeFeed(opened, log)
    undo.push(feed.stop)
    const watching = await startWatching(opened, feed, log)
    undo.push(watching.stop)
    const db = tellingWatchers(opened, watching)
    const ctx: Context = { config, db, log, metrics, now }
    const demo = config.mode === 'sandbox' ? await ensureDemoPartner(ctx) : undefined
    const operatorToken = config.operatorToken ?? ensureOperatorToken(config.dataDir)
    const masterKeys = config.masterKey ?? ensureMasterKey(config.dataDir)
    const signer = await startSigner(ctx, feed, masterKeys)
    undo.push(signer.stop)
    const guard = createTargetGuard(config)
    const sender = createSender(config, guard, resolve)
    undo.push(sender.close)
    const waker = createWaker(ctx)
    const publisher = createPublisher(ctx, waker)
    await db.transaction((tx) => ensureOperationsHook(tx, config.operationsWebhookUrl))
    let stopEngine: (() => Promise<void>) | undefined
    if (config.role !== 'api') {
      stopEngine = await startEngine(ctx, signer, sender, waker)
      undo.push(startBulkWorker(ctx, waker), startRetention(ctx), startOrderJobs(ctx, waker), stopEngine)
    }
    const usage = trackKeyUsage(ctx)
    undo.push(usage.stop)
    undo.push(repeat(tidyEveryMs, () => tidy(ctx), log))

    let ready = false
    const isReady = () => ready
    const serves = config.role !== 'worker'
    const directory = createDirectory(db, feed)
    const requests = keepRequestLog(ctx)
    undo.push(requests.stop)
    const cookie = sessionCookie('partner_session', config.publicUrl.startsWith('https:'))
    const sessions = cacheSessions(db, feed)
    const gate = createPartnerGate(ctx, { directory, sessions, cookie, requests, used: usage.note })
    const streams = createStreams({ db, log, watching, describe: describeEntries(ctx) })
    const partnerApi = [
      ...partnerRoutes(ctx, directory, feed),
      ...sessionRoutes(ctx, { directory, feed, cookie, requests }),
      ...subscriptionRoutes(ctx, { guard, waker, sendTest: createTestSender(ctx, signer, sender) }),
      ...eventRoutes(ctx, waker),
      ...statisticsRoutes(ctx),
      ...streamRoutes(streams, gate.stillHolds),
      ...orderRoutes(ctx, waker),
      ...settlementRoutes(ctx),
      ...(config.mode === 'sandbox' ? sandboxRoutes(ctx, publisher, waker) : []),
    ]
    const partner = createListener(ctx, {
      name: 'partner',
      gate,
      routes: serves ? partnerApi : [],
      prefixes: ['/v1', ''],
      openRoutes: [
        ...openRoutes(ctx, partnerDocument(config, partnerApi), isReady),
        openRoute('/.well-known/jwks.json', 'jwks', 'The public keys that webhooks are signed with', () =>
          jwksReply(signer),
        ),
        ...(serves ? serveConsole({ folder: consoleFolder, listener: 'partner' }).routes : []),
      ],
    })
    const changes = createChanges(db, feed)
    const operatorCookie = sessionCookie('operator_session', false)
    const operatorGate = createOperatorGate({
      ...{ bootstrapToken: operatorToken, tokens: cacheOperatorTokens(db, feed), cookie: operatorCookie, now },
      sessions: cacheOperatorSessions(db, feed),
    })
    const operatorApi = [
      ...partnerAdministration(ctx, changes, waker),
      ...webhookAdministration(ctx, changes, publisher, masterKeys),
      ...orderAdministration(ctx, waker),
      ...deliveryAdministration(ctx),
      ...serviceAdministration(ctx, changes),
      ...operatorSessionRoutes(ctx, {
        ...{ changes, operatorToken, cookie: operatorCookie, identify: operatorGate.identify },
      }),
    ]
    const operatorConsole = serves ? serveConsole({ folder: consoleFolder, listener: 'operator' }) : undefined
    const operator = createListener(ctx, {
      name: 'operator',
      gate: operatorGate,
      routes: serves ? operatorApi : [],
      prefixes: ['/operator/v1'],
      openRoutes: [
        ...openRoutes(ctx, operatorDocument(operatorApi), isReady),
        openRoute('/metrics', 'metrics', 'Metrics', () => metricsReply(ctx)),
        ...(operatorConsole?.routes ?? []),
      ],
      ...(operatorConsole ? { fallback: operatorConsole.fallback } : {}),
      checkRequest: checkHost(config),
    })
    // The engine begins nothing more from the first moment on, however long the last requests take.
    undo.push(() => Promise.all([streams.stop(), stopEngine?.(), partner.close(), operator.close()]))

    await partner.ready()
    await operator.ready()
    const url = await listen(partner, config.host, config.port)
    const operatorUrl = await listen(operator, config.operatorHost, config.operatorPort)
    const running = { url, operatorUrl, operatorToken, demo }
    beforeReady?.(running)
    ready = true
    log.info(
      { version, mode: config.mode, role: config.role, database: db.kind, url, operator_url: operatorUrl },
      'ready',
    )
    return {
      ...running,
      async stop() {
        ready = false
        await stop()
        log.info('stopped')
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function tidy({ db, now }: Context): Promise<unknown> {
  return Promise.all([
    forgetOldReplies(db),
    deleteExpiredTokens(db),
    deleteExpiredSessions(db, now()),
    deleteExpiredOperatorSessions(db, now()),
    forgetOldRequests(db),
    pruneEntries(db),
  ])
}

function jwksReply(signer: Signer): Reply {
  const { body, maxAgeSeconds } = signer.jwks()
  return {
    status: 200,
    body,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': `public, max-age=${maxAgeSeconds}`,
    },
  }
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port })
  const address = app.server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${address.port}`
}

// Runs `work` now and then until stopped; a failure is logged and tried again at the next turn.
function repeat(everyMs: number, work: () => Promise<unknown>, log: Logger): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    running = work().catch((error: Error) => log.warn({ error: error.message }, 'tidying up failed'))
  }, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
