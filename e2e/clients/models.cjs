// Asks a node through the clients of OpenAI and Ollama. Prints a line of JSON for each
// step. Arguments: the node's address, the key of an app.
const OpenAI = require('openai')
const { Ollama } = require('ollama')

const [address, key] = process.argv.slice(2)
const openai = new OpenAI({ apiKey: key, baseURL: address + '/v1', maxRetries: 0 })
// Ollama's has no key: the address has it, as Home Assistant's integration is given it.
const ollama = new Ollama({ host: address + '/k/' + key })
const stranger = new OpenAI({ apiKey: 'lka_unknown', baseURL: address + '/v1', maxRetries: 0 })

const ask = [{ role: 'user', content: 'What does Ana like to drink?' }]
const tools = [{ type: 'function', function: { name: 'weather', description: 'the weather', parameters: { type: 'object', properties: { place: { type: 'string' } } } } }]

const steps = {
  models: async () => (await openai.models.list()).data.map(m => m.id),
  model: async () => (await openai.models.retrieve('team/tiny')).id,
  chat: async () => (await openai.chat.completions.create({ model: 'tiny', messages: ask, temperature: 0.5, metadata: { keep: 'me' } })).choices[0].message.content,
  used: async () => (await openai.chat.completions.create({ model: 'tiny', messages: ask }).withResponse()).response.headers.get('locket-memories'),
  parts: async () => (await openai.chat.completions.create({ model: 'tiny', messages: [{ role: 'system', content: 'Be short.' }, { role: 'user', content: [{ type: 'text', text: ask[0].content }] }] })).choices[0].message.content,
  stream: async () => {
    let text = '', chunks = 0
    for await (const c of await openai.chat.completions.create({ model: 'tiny', messages: ask, stream: true })) { text += c.choices[0].delta.content || ''; chunks++ }
    return { text, chunks }
  },
  tools: async () => {
    const first = await openai.chat.completions.create({ model: 'tiny', messages: ask, tools })
    const call = first.choices[0].message.tool_calls[0]
    const second = await openai.chat.completions.create({ model: 'tiny', tools, messages: [...ask, first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: 'rain' }] })
    return { name: call.function.name, arguments: call.function.arguments, then: second.choices[0].message.content }
  },
  responses: async () => (await openai.responses.create({ model: 'tiny', input: ask[0].content, instructions: 'Be short.' })).output_text,
  responsesStream: async () => {
    let text = '', done = false
    for await (const e of await openai.responses.create({ model: 'tiny', input: [{ role: 'user', content: [{ type: 'input_text', text: ask[0].content }] }], stream: true })) {
      if (e.type === 'response.output_text.delta') text += e.delta
      done = e.type === 'response.completed'
    }
    return { text, done }
  },
  responsesSearch: async () => openai.responses.create({ model: 'tiny', input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }),
  unknownModel: async () => openai.chat.completions.create({ model: 'none', messages: ask }),
  badMessages: async () => openai.chat.completions.create({ model: 'tiny', messages: 'x' }),
  notPassed: async () => openai.embeddings.create({ model: 'tiny', input: 'x' }),
  stranger: async () => stranger.models.list(),
  tags: async () => (await ollama.list()).models.map(m => m.name),
  show: async () => (await ollama.show({ model: 'tiny' })).details.family,
  ollamaChat: async () => (await ollama.chat({ model: 'tiny', messages: ask })).message.content,
  ollamaStream: async () => {
    let text = '', chunks = 0, done = false
    for await (const c of await ollama.chat({ model: 'tiny', messages: ask, stream: true })) { text += c.message.content; chunks++; done = c.done }
    return { text, chunks, done }
  },
  ollamaTools: async () => (await ollama.chat({ model: 'tiny', messages: ask, tools })).message.tool_calls[0].function,
  generate: async () => (await ollama.generate({ model: 'tiny', prompt: ask[0].content, system: 'Be short.' })).response,
  generateStream: async () => {
    let text = ''
    for await (const c of await ollama.generate({ model: 'tiny', prompt: ask[0].content, stream: true })) text += c.response
    return text
  },
  generateRaw: async () => (await ollama.generate({ model: 'tiny', prompt: ask[0].content, raw: true })).response,
  ollamaUnknown: async () => ollama.chat({ model: 'none', messages: ask }),
}

;(async () => {
  for (const [name, step] of Object.entries(steps)) {
    let line = { name }
    try { line.value = await step() } catch (e) { line.error = e.message || String(e); line.status = e.status || e.status_code }
    console.log(JSON.stringify(line))
  }
})()
