// Takes webhooks, checks them with standardwebhooks, and prints a line of JSON for each.
// Arguments: port, secret, how many to refuse first.
const http = require('http')
const { Webhook } = require('standardwebhooks')
const [port, secret, refuse] = process.argv.slice(2)
let n = 0
http.createServer((req, res) => {
  let body = ''
  req.on('data', d => { body += d })
  req.on('end', () => {
    const out = { n: ++n, id: req.headers['webhook-id'] }
    try { out.message = new Webhook(secret).verify(body, req.headers) } catch (e) { out.error = String(e) }
    try { new Webhook(secret).verify(body + ' ', req.headers); out.error = 'a changed body passes' } catch (e) {}
    res.writeHead(n <= Number(refuse) ? 503 : 204).end(() => console.log(JSON.stringify(out)))
  })
}).listen(Number(port), '127.0.0.1', () => console.log('{}'))
