// What the demo partner is configured for: a little of everything, so that every part of the API has something to show.
import type { PartnerConfiguration } from '../partners/schema.ts'

const digits = (count: number) => ({
  type: 'string',
  regex: `^[0-9]{${count}}$`,
  min_length: count,
  max_length: count,
  optional: false,
})
const everyOperation = ['buy', 'receive', 'sell', 'send', 'transfer'] as const

export const demoConfiguration: PartnerConfiguration = {
  name: 'Demo Partner',
  logo_url: 'https://demo.example/logo.svg',
  kyc_mode: 'partner_collect',
  available_assets: [
    { id: 'BTC', decimal_places: 8, allowed_operations: [...everyOperation] },
    { id: 'ETH', decimal_places: 18, allowed_operations: [...everyOperation] },
    { id: 'USDC', decimal_places: 6, allowed_operations: [...everyOperation] },
    { id: 'ARS', decimal_places: 2, allowed_operations: ['receive', 'transfer'] },
    { id: 'MXN', decimal_places: 2, allowed_operations: ['receive', 'transfer'] },
  ],
  available_investments: [
    {
      id: 'usdc-savings',
      quote_asset: 'USDC',
      network: 'ethereum',
      provider_id: 'demo-yield',
      subscription: { min_amount: '10', max_amount: '100000' },
      redemption: { min_amount: '1', max_amount: '0' },
      fee: { type: 'earnings_percentage', value: '12.5' },
      name: 'USDC savings',
      enabled: true,
    },
    {
      id: 'eth-staking',
      quote_asset: 'ETH',
      network: 'ethereum',
      provider_id: 'demo-yield',
      subscription: { min_amount: '0.01', max_amount: '32' },
      redemption: { min_amount: '0.01', max_amount: '32' },
      fee: { type: 'earnings_percentage', value: '10' },
      name: 'ETH staking',
      enabled: false,
    },
  ],
  products: ['crypto_buy_sell', 'crypto_receive', 'crypto_send', 'crypto_swap', 'investments'],
  available_incoming_fiat_instructions: [
    { type: 'ar_cvu', creation_fees: [{ type: 'fixed', value: '0', currency: 'ARS' }] },
    { type: 'mx_clabe', creation_fees: [{ type: 'fixed', value: '5.00', currency: 'MXN' }] },
  ],
  available_outgoing_fiat_instructions: [
    {
      type: 'ar_cbu',
      required_fields: [
        { key: 'cbu', ...digits(22) },
        { key: 'holder_name', type: 'string', min_length: 2, max_length: 100, optional: false },
        { key: 'cuit', ...digits(11), optional: true },
      ],
      currencies: ['ARS'],
    },
    {
      type: 'ar_alias',
      required_fields: [
        { key: 'alias', type: 'string', regex: '^[A-Za-z0-9.-]+$', min_length: 6, max_length: 20, optional: false },
        { key: 'holder_name', type: 'string', min_length: 2, max_length: 100, optional: true },
      ],
      currencies: ['ARS'],
    },
    {
      type: 'mx_clabe',
      required_fields: [
        { key: 'clabe', ...digits(18) },
        { key: 'holder_name', type: 'string', min_length: 2, max_length: 100, optional: false },
      ],
      currencies: ['MXN'],
    },
  ],
  delegation_enabled: false,
  withdrawal_fees: [
    { type: 'ar_cbu', currency: 'ARS', fixed: '50.00', percentage: '0.5' },
    { type: 'ar_alias', currency: 'ARS', fixed: '50.00', percentage: '0.5' },
    { type: 'mx_clabe', currency: 'MXN', fixed: '7.50', percentage: '0.25' },
  ],
}

export const demoFunds = [
  { currency: 'ARS', amount: '1000000.00', reference_id: 'demo-funds-ars' },
  { currency: 'MXN', amount: '50000.00', reference_id: 'demo-funds-mxn' },
]
