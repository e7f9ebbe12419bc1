// Runs a TypeScript file that passes the compiler's checks.
const fs = require('fs'), path = require('path'), ts = require('typescript');
const [file, out] = process.argv.slice(2);
const options = { strict: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, moduleDetection: ts.ModuleDetectionKind.Force,
  types: ['node'], typeRoots: [path.join(__dirname, 'node_modules/@types')], outDir: out, skipLibCheck: true };
const program = ts.createProgram([file], options);
const wrong = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
for (const d of wrong) console.error(ts.flattenDiagnosticMessageText(d.messageText, ' '));
if (wrong.length > 0) process.exit(2);
const made = path.join(out, path.basename(file, '.ts') + '.mjs');
fs.renameSync(path.join(out, path.basename(file, '.ts') + '.js'), made);
import(made).catch((err) => { console.error(err.message); process.exit(1); });
