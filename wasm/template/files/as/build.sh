#!/bin/sh
# Builds plugin.wasm.
set -eu
cd "$(dirname "$0")"
command -v npm >/dev/null || { echo "npm is missing: https://nodejs.org, 20 or later" >&2; exit 1; }
[ -x node_modules/.bin/asc ] || npm ci --no-audit --no-fund --silent
node_modules/.bin/asc assembly/index.ts -o plugin.wasm -O3 --runtime incremental --use abort=
