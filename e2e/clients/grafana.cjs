// Checks a dashboard against Grafana's own types, as strictly as TypeScript can: a name
// that Grafana does not know is an error. Prints each error, and a JSON list of
// the queries.
const fs = require('fs'), path = require('path'), ts = require('typescript');
const text = fs.readFileSync(process.argv[2], 'utf8');
const dashboard = JSON.parse(text);
const raw = path.join(__dirname, 'node_modules/@grafana/schema/dist/types/raw');
const from = (name, file) => `import type { ${name} } from ${JSON.stringify(path.join(raw, file))};\n`;
let source = from('Dashboard', 'dashboard/x/types.gen') +
  from('Options as timeseries', 'composable/timeseries/panelcfg/x/types.gen') + from('Options as stat', 'composable/stat/panelcfg/x/types.gen') +
  // JSON has the values of Grafana's enums.
  'type Plain<T> = T extends string ? `${T}` : T extends (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;\n' +
  `export const all: Dashboard = ${text};\n`;
const queries = [];
dashboard.panels.forEach((p, i) => {
  if (p.type === 'row') return;
  source += `export const options${i}: Plain<${p.type}> = ${JSON.stringify(p.options)};\n`;
  queries.push(...p.targets.map((t) => t.expr));
});
const file = path.join(__dirname, 'dashboard.ts');
const options = { strict: true, noEmit: true, skipLibCheck: true, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, types: [] };
const host = ts.createCompilerHost(options);
const read = host.getSourceFile.bind(host);
host.getSourceFile = (name, ...rest) => name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ESNext) : read(name, ...rest);
const program = ts.createProgram([file], options, host);
for (const d of ts.getPreEmitDiagnostics(program)) {
  const line = d.file ? source.slice(0, d.start).split('\n').length : 0;
  console.log(`${line}: ${ts.flattenDiagnosticMessageText(d.messageText, ' ')}: ${(source.split('\n')[line - 1] || '').slice(0, 200)}`);
}
console.log(JSON.stringify([...queries, ...dashboard.templating.list.filter((v) => v.type === 'query').map((v) => v.query.query)]));
