// startService(config): opens the database, migrates, starts both listeners; returns stop(), which ends everything in order:
// no new requests, those under way are finished, then the database is closed.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { startChangeFeed } from './db/changes.ts'
import { claimDatabase } from './db/installation.ts'
import { openDatabase } from './db/open.ts'
import { operatorDocument, partnerDocument } from './documents.ts'
import { forgetOldReplies } from './http/idempotency.ts'
import { createListener } from './http/listener.ts'
import { openRoutes } from './http/open-routes.ts'
import { route } from './http/route.ts'
import { addProcessMetrics, createMetrics } from './metrics.ts'
import { createChanges } from './operator/changes.ts'
import { checkHost, createOperatorGate } from './operator/gate.ts'
import { partnerAdministration } from './operator/partner-routes.ts'
import { metricsReply, serviceAdministration } from './operator/service-routes.ts'
import { cacheOperatorTokens } from './operator/tokens.ts'
import { createDirectory } from './partners/directory.ts'
import { createPartnerGate } from './partners/gate.ts'
import { deleteExpiredTokens } from './partners/queries.ts'
import { partnerRoutes } from './partners/routes.ts'
import { trackKeyUsage } from './partners/usage.ts'
import { ensureDemoPartner, ensureOperatorToken } from './sandbox/demo.ts'
import { version } from './version.ts'

const tidyEveryMs = 10 * 60_000

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
  // Called once everything is set up but before the listeners answer.
  readonly beforeReady?: (service: Omit<Service, 'stop'>) => void
}

export async function startService(
  config: Config,
  { log, now = () => new Date(), beforeReady }: StartOptions,
): Promise<Service> {
  const metrics = createMetrics()
  addProcessMetrics(metrics, version)
  const db = await openDatabase(config, log)
  const undo: (() => Promise<unknown>)[] = [() => db.close()]
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    await claimDatabase(db, config.mode)
    const ctx: Context = { config, db, log, metrics, now }
    const demo = config.mode === 'sandbox' ? await ensureDemoPartner(ctx) : undefined
    const operatorToken = config.operatorToken ?? ensureOperatorToken(config.dataDir)
    const feed = await startChangeFeed(db, log)
    undo.push(feed.stop)
    const usage = trackKeyUsage(ctx)
    undo.push(usage.stop)
    undo.push(repeat(tidyEveryMs, () => Promise.all([forgetOldReplies(db), deleteExpiredTokens(db)]), log))

    let ready = false
    const isReady = () => ready
    const partner = partnerListener(ctx, feed, usage.note, isReady)
    const operator = operatorListener(ctx, feed, operatorToken, isReady)
    undo.push(() => Promise.all([partner.close(), operator.close()]))

    await partner.ready()
    await operator.ready()
    const url = await listen(partner, config.host, config.port)
    const operatorUrl = await listen(operator, config.operatorHost, config.operatorPort)
    const running = { url, operatorUrl, operatorToken, demo }
    beforeReady?.(running)
    ready = true
    log.info({ version, mode: config.mode, database: db.kind, url, operator_url: operatorUrl }, 'ready')
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

function partnerListener(
  ctx: Context,
  feed: Awaited<ReturnType<typeof startChangeFeed>>,
  noteUse: (keyId: string) => void,
  isReady: () => boolean,
): FastifyInstance {
  const directory = createDirectory(ctx.db, feed)
  const routes = partnerRoutes(ctx, directory, feed)
  return createListener(ctx, {
    name: 'partner',
    gate: createPartnerGate(ctx, directory, noteUse),
    routes,
    prefixes: ['/v1', ''],
    openRoutes: openRoutes(ctx, partnerDocument(ctx.config, routes), isReady),
  })
}

function operatorListener(
  ctx: Context,
  feed: Awaited<ReturnType<typeof startChangeFeed>>,
  operatorToken: string,
  isReady: () => boolean,
): FastifyInstance {
  const changes = createChanges(ctx.db, feed)
  const routes = [...partnerAdministration(ctx, changes), ...serviceAdministration(ctx, changes)]
  const metricsRoute = route<undefined>()({
    method: 'GET',
    path: '/metrics',
    id: 'metrics',
    tag: 'Service',
    summary: 'Metrics',
    access: undefined,
    replies: {},
    handle: () => metricsReply(ctx),
  })
  return createListener(ctx, {
    name: 'operator',
    gate: createOperatorGate(operatorToken, cacheOperatorTokens(ctx.db, feed)),
    routes,
    prefixes: ['/operator/v1'],
    openRoutes: [...openRoutes(ctx, operatorDocument(routes), isReady), metricsRoute],
    checkRequest: checkHost(ctx.config),
  })
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
