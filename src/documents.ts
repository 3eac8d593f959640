// The two OpenAPI documents, one for each listener, made from the routes they serve.
import type { Config } from './config.ts'
import { openApiDocument } from './http/openapi.ts'
import type { Route } from './http/route.ts'
import { DeliveryOverview } from './operator/delivery-routes.ts'
import { ReconciliationReport } from './operator/order-routes.ts'
import * as operator from './operator/schema.ts'
import { Publication, PublishedEvent, SigningKey } from './operator/webhook-routes.ts'
import * as orders from './orders/schema.ts'
import * as partner from './partners/schema.ts'
import * as sessions from './partners/session-schema.ts'
import { version } from './version.ts'
import {
  actions,
  CustomerEntity,
  catalogue,
  IncomingFundsEntity,
  OrderEntity,
  PartnerOrderEntity,
  RequirementEntity,
} from './webhooks/catalogue.ts'
import * as webhooks from './webhooks/schema.ts'
import { DeliveryStatistics } from './webhooks/statistics-schema.ts'

// biome-ignore lint/suspicious/noExplicitAny: routes of every kind of caller are described alike
type Routes = readonly Route<any>[]

export function partnerDocument(config: Config, routes: Routes): Record<string, unknown> {
  return openApiDocument(
    {
      title: 'Partner API',
      rateLimited: true,
      version,
      description:
        'Read your account configuration, subscribe to events and follow their delivery, create and confirm withdrawal orders, manage your API keys. Every path also answers without `/v1`. Times are ISO 8601, money is decimal strings, lists are newest first.',
      server: `${publicBase(config.publicUrl)}/v1`,
      security: {
        name: 'apiKey',
        description:
          '`Authorization: Bearer …` with a secret key (`psk_…`), or with a JWT that you sign with your own private key: `iss` is the id of the API key, `iat` at most 15 minutes old; `exp`, `jti` (single use), `htm` and `htu` (method and path) and `bodyHash` (hex SHA-256 of the body) are enforced when present.',
      },
      cookie: {
        name: 'partner_session',
        description:
          'The console’s cookie (`__Host-partner_session` over TLS) stands for its API key where no `Authorization` is sent. Everything but reads then needs the header `X-Console: 1` and must come from the same origin.',
      },
      tags: {
        Partner: 'The account of the calling partner.',
        'Webhook subscriptions': 'Where to send which events.',
        'Webhook events': 'What was sent, how it went, and sending it again.',
        Orders: 'Withdrawals, from creation to settlement.',
        'Outgoing instructions': 'Where withdrawals may go.',
        'Settlement accounts': 'Balances and statements.',
        'API keys': 'Credentials of the calling partner.',
        Console: 'Signing in to the web console.',
        Requests: 'What became of a call.',
        ...(config.mode === 'sandbox' ? { Sandbox: 'Only in sandbox mode.' } : {}),
        Events: 'The calls that your endpoint receives, each with an `X-JWT-SIGNATURE`.',
      },
      webhooks: Object.fromEntries(actions.map((action) => [action, { ...catalogue[action], tag: 'Events' }])),
      schemas: {
        PartnerAccount: partner.PartnerAccount,
        Asset: partner.Asset,
        Investment: partner.Investment,
        IncomingInstruction: partner.IncomingInstruction,
        OutgoingInstruction: partner.OutgoingInstruction,
        RequiredField: partner.RequiredField,
        ApiKey: partner.ApiKey,
        NewApiKey: partner.NewApiKey,
        CreatedApiKey: partner.CreatedApiKey,
        Session: sessions.Session,
        SignInLink: sessions.SignInLink,
        LoggedRequest: sessions.LoggedRequest,
        Subscription: webhooks.Subscription,
        Subscriptions: webhooks.Subscriptions,
        NewSubscription: webhooks.NewSubscription,
        NewSubscriptions: webhooks.NewSubscriptions,
        SubscriptionChange: webhooks.SubscriptionChange,
        TestResult: webhooks.TestResult,
        WebhookEvent: webhooks.WebhookEvent,
        WebhookEventDetails: webhooks.WebhookEventDetails,
        Attempt: webhooks.Attempt,
        ResentEvent: webhooks.ResentEvent,
        BulkResend: webhooks.BulkResend,
        DeliveryStatistics,
        Order: orders.Order,
        NewOrder: orders.NewOrder,
        Instruction: orders.Instruction,
        NewInstruction: orders.NewInstruction,
        SettlementAccount: orders.SettlementAccount,
        StatementEntry: orders.StatementEntry,
        OrderEntity,
        PartnerOrderEntity,
        CustomerEntity,
        RequirementEntity,
        IncomingFundsEntity,
      },
    },
    routes,
  )
}

export function operatorDocument(routes: Routes): Record<string, unknown> {
  return openApiDocument(
    {
      title: 'Operator API',
      rateLimited: false,
      version,
      description:
        'Run the service: partners, their configuration and keys, payouts and reconciliation, operator tokens, the audit log.',
      server: '/operator/v1',
      security: { name: 'operatorToken', description: '`Authorization: Bearer …` with an operator token.' },
      cookie: {
        name: 'operator_session',
        description:
          'The console’s cookie (`__Host-operator_session` over TLS) stands for its operator token where no `Authorization` is sent. Everything but reads then needs the header `X-Console: 1` and must come from the same origin.',
      },
      tags: {
        Partners: 'Who they are.',
        Configuration: 'What they may do.',
        'API keys': 'How they call.',
        Events: 'What the platform tells them.',
        Delivery: 'How that goes.',
        Orders: 'What they are paid, and proof that the money adds up.',
        'Signing keys': 'What webhooks are signed with.',
        'Operator tokens': 'Who operates.',
        'Audit log': 'Who did what.',
        Console: 'Signing in to the web console.',
        Service: 'The service itself.',
      },
      schemas: {
        Partner: operator.Partner,
        NewPartner: operator.NewPartner,
        PartnerConfiguration: partner.PartnerConfiguration,
        Asset: partner.Asset,
        Investment: partner.Investment,
        IncomingInstruction: partner.IncomingInstruction,
        OutgoingInstruction: partner.OutgoingInstruction,
        RequiredField: partner.RequiredField,
        ConfigurationVersion: operator.ConfigurationVersion,
        ApiKey: partner.ApiKey,
        NewApiKey: partner.NewApiKey,
        CreatedApiKey: partner.CreatedApiKey,
        OperatorToken: operator.OperatorToken,
        CreatedOperatorToken: operator.CreatedOperatorToken,
        AuditEntry: operator.AuditEntry,
        OperatorSession: operator.OperatorSession,
        SignInLink: sessions.SignInLink,
        PublishedEvent,
        Publication,
        SigningKey,
        DeliveryOverview,
        Order: orders.Order,
        OperatorOrder: orders.OperatorOrder,
        NewTopUp: orders.NewTopUp,
        ReconciliationReport,
      },
    },
    routes,
  )
}

// `localhost` and port 0 mean nothing to whoever reads the document elsewhere; a relative address is right wherever it is served.
function publicBase(publicUrl: string): string {
  return new URL(publicUrl).hostname === 'localhost' ? '' : publicUrl
}
