// Makes the page: node build.mjs [FOLDER]. The same source and lock file give the same bytes everywhere.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";

const out = process.argv[2] ?? "../dist";
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
// A name with a hash: a page that stays open over an upgrade gets no part of another build, whose names of one letter mean something else.
const hashed = "[name]-[hash]";
const options = { outdir: out, bundle: true, minify: true, target: ["es2022"], legalComments: "none", charset: "utf8" };
await build({ ...options, entryPoints: { graph: "src/sky.ts" }, entryNames: hashed, format: "esm" }); // loaded by the page that shows the whole graph
const graph = (await readdir(out))[0];
// console.js has what the first page needs alone, rest-….js the other pages, and the chunks what both need: index.html names them, so that they
// do not wait for console.js.
const define = { GRAPH: JSON.stringify("/" + graph) };
await build({ ...options, entryPoints: { console: "src/main.tsx" }, format: "esm", splitting: true, chunkNames: hashed, jsx: "automatic", jsxImportSource: "preact", define });
await cp("static", out, { recursive: true });
const chunks = (await readdir(out)).filter((name) => name.startsWith("chunk-")).sort();
const index = await readFile("static/index.html", "utf8");
await writeFile(`${out}/index.html`, index.replace("<!--chunks-->", chunks.map((name) => `<link rel="modulepreload" href="/${name}">`).join("\n")));

// The worker keeps these, and names them by what they are, so that another build is fetched whole.
const shell = (await readdir(out)).filter((name) => name !== graph).sort();
const hash = createHash("sha256");
for (const name of shell) hash.update(await readFile(`${out}/${name}`));
const worker = { BUILD: JSON.stringify(hash.digest("hex").slice(0, 16)), SHELL: JSON.stringify(shell.map((name) => "/" + (name === "index.html" ? "" : name))) };
await build({ ...options, entryPoints: { worker: "src/worker.js" }, format: "iife", define: worker });
