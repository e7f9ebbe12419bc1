// Makes the page: node build.mjs [FOLDER]. The same source and lock file give the same bytes everywhere.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, rm } from "node:fs/promises";

const out = process.argv[2] ?? "../dist";
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const options = { outdir: out, bundle: true, minify: true, target: ["es2022"], legalComments: "none", charset: "utf8" };
await build({ ...options, entryPoints: { console: "src/main.tsx" }, format: "esm", jsx: "automatic", jsxImportSource: "preact" });
await build({ ...options, entryPoints: { graph: "src/sky.ts" }, format: "esm" }); // loaded by the page that shows the whole graph
await cp("static", out, { recursive: true });

// The worker names the files that it keeps by what they are, so that another build is fetched whole.
const hash = createHash("sha256");
for (const name of ["console.js", "console.css", "index.html", "icon.svg", "manifest.webmanifest"]) hash.update(await readFile(`${out}/${name}`));
const define = { BUILD: JSON.stringify(hash.digest("hex").slice(0, 16)) };
await build({ ...options, entryPoints: { worker: "src/worker.js" }, format: "iife", define });
