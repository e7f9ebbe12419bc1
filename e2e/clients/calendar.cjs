// Reads a calendar by its address with node-ical, and prints its entries as JSON, one a line.
const ical = require('node-ical')
ical.async.fromURL(process.argv[2]).then(all => {
  for (const e of Object.values(all)) {
    console.log(JSON.stringify({ type: e.type, uid: e.uid, summary: e.summary && (e.summary.val || e.summary), start: e.start, due: e.due, days: e.datetype, yearly: !!e.rrule, zone: e.start && e.start.tz, alarms: (e.alarms || []).length }))
  }
}).catch(e => { console.error(e); process.exit(1) })
