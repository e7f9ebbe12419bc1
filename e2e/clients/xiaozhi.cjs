// Is a device with the Xiaozhi firmware, by the clients ws or mqtt: asks at the OTA address where its server is, is woken,
// says the packets of a file (JSON, hexadecimal) as fast as they sound, and prints the answer that is spoken to it.
// Arguments: OTA address, websocket or mqtt, file.
const crypto = require('crypto')
const dgram = require('dgram')
const fs = require('fs')
const http = require('http')
const WebSocket = require('ws')
const mqtt = require('mqtt')

const [ota, kind, file] = process.argv.slice(2)
const packets = JSON.parse(fs.readFileSync(file)).map(p => Buffer.from(p, 'hex'))
const mac = 'a0:85:e3:f4:49:34'
const headers = { 'Device-Id': mac, 'Client-Id': 'aeebef32-f0ef-4bce-9d8a-894d91bc6932', 'User-Agent': 'bread-compact-wifi/2.0.0' }

const fail = e => { console.error(e); process.exit(1) }
process.on('unhandledRejection', fail)

// where asks as a device without a screen does, with broken JSON.
const where = () => new Promise((resolve, reject) => {
  http.request(ota, { method: 'POST', headers }, res => {
    let b = ''
    res.on('data', d => { b += d }).on('end', () => res.statusCode === 200 ? resolve(JSON.parse(b)) : reject(b))
  }).on('error', reject).end('{"version":2,},"board":{}}')
})

// A line gives the device's words and sounds to the server, and calls heard with those of the server.
function overWebSocket (at, heard) {
  const c = new WebSocket(at.websocket.url, { headers: { ...headers, Authorization: `Bearer ${at.websocket.token}`, 'Protocol-Version': '3' } })
  c.on('error', fail).on('close', () => fail('the server hung up'))
  c.on('message', (b, binary) => {
    if (!binary) return heard.text(JSON.parse(b))
    if (b[0] !== 0 || b.readUInt16BE(2) !== b.length - 4) fail('a message that is no sound of version 3')
    heard.sound(b.subarray(4))
  })
  return new Promise(resolve => c.on('open', () => resolve({
    transport: 'websocket',
    begun: () => {},
    text: m => c.send(JSON.stringify(m)),
    sound: p => {
      const head = Buffer.alloc(4)
      head.writeUInt16BE(p.length, 2)
      c.send(Buffer.concat([head, p]))
    }
  })))
}

function overMQTT (at, heard) {
  const { endpoint, client_id: clientId, username, password, publish_topic: topic } = at.mqtt
  const c = mqtt.connect(`mqtt://${endpoint}`, { clientId, username, password, protocolVersion: 4, keepalive: 240, reconnectPeriod: 0 })
  c.on('error', fail).on('close', () => fail('the server hung up'))
  c.on('message', (t, b) => t === 'devices/p2p/' + mac.replaceAll(':', '_') ? heard.text(JSON.parse(b)) : fail(t))
  const socket = dgram.createSocket('udp4')
  let key, nonce, server, port
  let sent = 0
  const crypt = (head, b) => crypto.createCipheriv('aes-128-ctr', key, head).update(b)
  socket.on('message', b => {
    if (b[0] !== 1 || b.readUInt16BE(2) !== b.length - 16 || b.readUInt32BE(4) !== nonce.readUInt32BE(4)) fail('a datagram that is not of this session')
    heard.sound(crypt(b.subarray(0, 16), b.subarray(16)))
  })
  return new Promise(resolve => c.on('connect', () => resolve({
    transport: 'udp',
    begun: m => {
      ({ server, port } = m.udp)
      key = Buffer.from(m.udp.key, 'hex')
      nonce = Buffer.from(m.udp.nonce, 'hex')
    },
    text: m => c.publish(topic, JSON.stringify(m)),
    sound: p => {
      const head = Buffer.from(nonce)
      head.writeUInt16BE(p.length, 2)
      head.writeUInt32BE(++sent, 12)
      socket.send(Buffer.concat([head, crypt(head, p)]), port, server)
    }
  })))
}

async function main () {
  const at = await where()
  if (at.firmware.url) fail('it is told to load a firmware')
  const answer = { text: '', packets: [] }
  let speaks = false
  let session
  const heard = {
    sound: p => { // as the firmware does, it drops what comes before start; only datagrams may
      if (speaks) answer.packets.push(p.toString('base64'))
      else if (kind !== 'mqtt') fail('sound before tts start')
    },
    text: m => {
      if (m.type === 'hello') {
        if (m.transport !== line.transport) fail(m)
        session = m.session_id
        line.begun(m)
        return speak()
      }
      if (m.type !== 'tts') return
      speaks = m.state === 'start' || (speaks && m.state !== 'stop')
      answer.text += m.text ?? ''
      if (m.state !== 'stop') return
      console.log(JSON.stringify(answer))
      process.exit(0)
    }
  }
  const say = m => line.text({ session_id: session, ...m })
  function speak () {
    say({ type: 'listen', state: 'detect', text: 'Hi XiaoZhi' })
    say({ type: 'listen', state: 'start', mode: 'manual' })
    const each = setInterval(() => {
      if (packets.length) return line.sound(packets.shift())
      clearInterval(each)
      setTimeout(() => say({ type: 'listen', state: 'stop' }), 1000) // datagrams have no order with what is said by MQTT
    }, 60)
  }
  const line = await (kind === 'mqtt' ? overMQTT : overWebSocket)(at, heard)
  line.text({ type: 'hello', version: 3, features: { mcp: true }, transport: line.transport, audio_params: { format: 'opus', sample_rate: 16000, channels: 1, frame_duration: 60 } })
}
main()
