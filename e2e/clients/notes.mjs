// Reads every note below a folder with remark, and prints as JSON, one a line, what the
// note shows: its links, pictures, code, HTML, properties and words.
import fs from 'node:fs'
import path from 'node:path'
import { remark } from 'remark'
import frontmatter from 'remark-frontmatter'
import wikilinks from 'remark-wiki-link'

const root = process.argv[2]
const files = fs.readdirSync(root, { recursive: true }).filter(f => f.endsWith('.md'))
const names = files.map(f => f.slice(0, -3))
const reader = remark().use(frontmatter).use(wikilinks, { aliasDivider: '|', permalinks: names, pageResolver: n => [n], hrefTemplate: n => n })
for (const file of files) {
  const found = { file, links: [], missing: [], acts: [], properties: '', words: '' }
  const walk = n => {
    if (n.type === 'wikiLink') {
      found.links.push(n.data.alias)
      if (!n.data.exists) found.missing.push(n.value)
    } else if (['link', 'image', 'html', 'code', 'inlineCode', 'linkReference', 'imageReference', 'definition'].includes(n.type)) found.acts.push(n.type)
    else if (n.type === 'yaml') found.properties = n.value
    else if (n.type === 'text') found.words += n.value
    for (const c of n.children || []) walk(c)
  }
  walk(reader.parse(fs.readFileSync(path.join(root, file))))
  console.log(JSON.stringify(found))
}
