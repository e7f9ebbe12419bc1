// Makes the page: node build.mjs [FOLDER]. The same source and lock file give the same bytes everywhere.
import { build } from "esbuild";
import { cp, mkdir, rm } from "node:fs/promises";

const out = process.argv[2] ?? "../dist";
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await build({
  entryPoints: { console: "src/main.tsx" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
});
await cp("static", out, { recursive: true });
