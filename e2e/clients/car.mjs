// Reads a CAR file with @ipld/car and @ipld/dag-cbor, as they come from npm: checks each
// block against its name, follows the root's links, and prints what it found as JSON.
import fs from 'node:fs'
import { CarReader } from '@ipld/car'
import * as dagCBOR from '@ipld/dag-cbor'
import { sha256 } from 'multiformats/hashes/sha2'
import { CID } from 'multiformats/cid'

const reader = await CarReader.fromBytes(fs.readFileSync(process.argv[2]))
const [root] = await reader.getRoots()
let blocks = 0
for await (const { cid, bytes } of reader.blocks()) {
  if (!CID.create(1, cid.code, await sha256.digest(bytes)).equals(cid)) throw new Error(`${cid} is another block`)
  blocks++
}
const get = async cid => {
  const block = await reader.get(cid)
  if (!block) throw new Error(`${cid} is not there`)
  return block.bytes
}
const top = dagCBOR.decode(await get(root))
const items = await Promise.all(top.items.map(async cid => (await get(cid)).length))
const [, signer, signature] = dagCBOR.decode(await get(top.listing))
const steps = top.order ? dagCBOR.decode(await get(top.order))[3].length : 0
console.log(JSON.stringify({ root: root.toString(), version: reader.version, blocks, items, market: top.market, signer: signer.length, signature: signature.length, bought: !!top.order, steps }))
