// Checks each line of standard input against a JSON Schema of 2020-12; prints for each a
// line: what is wrong with it, or nothing.
const fs = require('fs');
const Ajv = require('ajv/dist/2020').default, formats = require('ajv-formats').default;
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
formats(ajv);
const check = ajv.compile(JSON.parse(fs.readFileSync(process.argv[2], 'utf8')));
for (const line of fs.readFileSync(0, 'utf8').trimEnd().split('\n'))
  console.log(check(JSON.parse(line)) ? '' : ajv.errorsText(check.errors));
