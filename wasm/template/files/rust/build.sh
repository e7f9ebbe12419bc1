#!/bin/sh
# Builds plugin.wasm with the first rustc that has the target, of those in PATH
# and Debian's; RUSTC names another.
set -eu
cd "$(dirname "$0")"
target=wasm32-unknown-unknown
has() { command -v "$1" >/dev/null && [ -d "$("$1" --print target-libdir --target $target)" ]; }
if [ -z "${RUSTC:-}" ]; then
	RUSTC=rustc
	has rustc || ! has /usr/bin/rustc || RUSTC=/usr/bin/rustc
fi
command -v "$RUSTC" >/dev/null || { echo "rustc is missing: apt install rustc libstd-rust-dev-wasm32 lld (Debian, Ubuntu)" >&2; exit 1; }
has "$RUSTC" || {
	echo "rustc has no $target: apt install libstd-rust-dev-wasm32 lld (Debian, Ubuntu), or rustup target add $target" >&2
	exit 1
}
"$RUSTC" --edition 2021 --crate-type cdylib --crate-name plugin --target $target -C opt-level=3 -C panic=abort \
	-C strip=symbols -C link-arg=-zstack-size=65536 -o plugin.wasm src/lib.rs
