// Calls each method of Mem0's client that Locket claims, as its users do:
// node mem0.cjs HOST KEY. Prints a line of JSON for each call: {name, value} or
// {name, error, kind}.
const { MemoryClient } = require('mem0ai')

async function main([host, apiKey]) {
  const client = new MemoryClient({ apiKey, host })
  const step = async (name, f) => {
    try {
      const value = await f()
      console.log(JSON.stringify({ name, value }))
      return value
    } catch (e) {
      console.log(JSON.stringify({ name, error: String(e.message), kind: e.constructor.name }))
    }
  }
  await step('ping', () => client.ping().then(() => ({ org: client.organizationId })))
  const added = await step('add', () => client.add([{ role: 'user', content: 'The red kayak lies in Lindau' }],
    { userId: 'ann', infer: false, metadata: { projectName: 'boats', depth: 3, parts: ['oar', { leftHand: true }] } }))
  const id = added.results[0].id
  await step('addBob', () => client.add([{ role: 'user', content: 'The blue kayak lies in Bregenz' }], { userId: 'bob', agentId: 'helper', infer: false }))
  await step('addInferred', () => client.add([{ role: 'user', content: 'I live in Lisbon now.' }], { userId: 'ann' }))
  await step('get', () => client.get(id))
  await step('search', () => client.search('where is the kayak', { filters: { user_id: 'ann' }, topK: 5 }))
  await step('searchOr', () => client.search('kayak', { filters: { OR: [{ user_id: 'ann' }, { agent_id: 'helper' }] } }))
  await step('searchNot', () => client.search('kayak', { filters: { AND: [{ user_id: '*' }, { NOT: { user_id: 'bob' } }] } }))
  await step('searchMetadata', () => client.search('kayak', { filters: { metadata: { projectName: 'boats' } } }))
  await step('getAll', () => client.getAll({ filters: { OR: [{ user_id: 'ann' }, { user_id: 'bob' }] }, page: 1, pageSize: 2 }))
  await step('getAllSecond', () => client.getAll({ filters: { OR: [{ user_id: 'ann' }, { user_id: 'bob' }] }, page: 2, pageSize: 2 }))
  await step('update', () => client.update(id, { text: 'The red kayak lies in Friedrichshafen', metadata: { camelCase: 'stays' } }))
  await step('history', () => client.history(id))
  await step('batchUpdate', () => client.batchUpdate([{ memoryId: id, text: 'The red kayak lies in Meersburg' }]))
  await step('users', () => client.users())
  await step('delete', () => client.delete(id))
  await step('getGone', () => client.get(id))
  const more = await step('addMore', () => client.add('The boat house is green', { userId: 'ann', infer: false }))
  await step('batchDelete', () => client.batchDelete([more.results[0].id]))
  await step('deleteAll', () => client.deleteAll({ userId: 'ann' }))
  await step('deleteUsers', () => client.deleteUsers({ userId: 'bob' }))
  await step('left', () => client.getAll({ filters: { user_id: '*' } }))
  await step('deleteNobody', () => client.deleteAll({}))
  await step('unknownOption', () => client.add('Tea', { userId: 'ann', customInstructions: 'be brief' }))
  await step('webhooks', () => client.getWebhooks({ projectId: 'x' }))
  await step('badFilter', () => client.search('kayak', { filters: { colour: 'red' } }))
}

main(process.argv.slice(2)).catch((e) => {
  console.error(e)
  process.exit(1)
})
