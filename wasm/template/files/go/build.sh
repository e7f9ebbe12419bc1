#!/bin/sh
# Builds plugin.wasm.
set -eu
cd "$(dirname "$0")"
command -v go >/dev/null || { echo "go is missing: https://go.dev/dl, 1.24 or later" >&2; exit 1; }
GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOFLAGS='' go build -buildmode=c-shared -trimpath -buildvcs=false \
	-ldflags '-s -w -buildid=' -o plugin.wasm .
