// Follows a resource of MCP with the official client, and prints a line once it does, one for
// each time that it is told of a change, and one when the node ends that.
//
//   node follow.mjs URI legacy|modern http ADDRESS KEY
//   node follow.mjs URI legacy|modern stdio COMMAND ARGUMENT…
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const [uri, era, way, at, ...rest] = process.argv.slice(2)
const over = way === 'http'
  ? new StreamableHTTPClientTransport(new URL(at), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } })
  : new StdioClientTransport({ command: at, args: rest })
const client = new Client({ name: 'follow', version: '1' }, { versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } })
client.setNotificationHandler('notifications/resources/updated', (n) => console.log(`updated ${n.params.uri}`))
await client.connect(over)
if (era === 'modern') {
  const followed = await client.listen({ resourceSubscriptions: [uri] })
  console.log('following')
  console.log(`ended ${await followed.closed}`)
  await client.close()
} else {
  await client.subscribeResource({ uri })
  console.log('following')
}
