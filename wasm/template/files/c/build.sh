#!/bin/sh
# Builds plugin.wasm.
set -eu
cd "$(dirname "$0")"
for tool in clang wasm-ld; do
	command -v $tool >/dev/null || { echo "$tool is missing: apt install clang lld (Debian, Ubuntu)" >&2; exit 1; }
done
clang --target=wasm32 -Os -Wall -Wextra -Werror -nostdlib -ffreestanding -mbulk-memory \
	-Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=65536 -o plugin.wasm plugin.c
