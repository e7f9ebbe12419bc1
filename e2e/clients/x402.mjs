// Asks for an address with @x402/fetch, @x402/evm and viem, as they come from npm: they
// pay what it costs by AGENT_KEY, up to a sum in dollars. Prints the answer as JSON.
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { ExactEvmScheme } from '@x402/evm'
import { privateKeyToAccount } from 'viem/accounts'

const [, , address, most] = process.argv
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(privateKeyToAccount(process.env.AGENT_KEY)) }],
  spendControls: { maxAmountPerPayment: most }
})
const answer = await pay(address)
const receipt = answer.headers.get('PAYMENT-RESPONSE')
console.log(JSON.stringify({ status: answer.status, ...await answer.json(), receipt: receipt && decodePaymentResponseHeader(receipt) }))
