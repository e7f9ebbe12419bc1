#!/bin/sh
# Builds plugin.wasm. RUSTC=/usr/bin/rustc takes Debian's where there are two.
set -eu
cd "$(dirname "$0")"
RUSTC=${RUSTC:-rustc}
target=wasm32-unknown-unknown
command -v "$RUSTC" >/dev/null || { echo "rustc is missing: apt install rustc libstd-rust-dev-wasm32 lld (Debian, Ubuntu)" >&2; exit 1; }
[ -d "$("$RUSTC" --print target-libdir --target $target)" ] || {
	echo "rustc has no $target: apt install libstd-rust-dev-wasm32 lld (Debian, Ubuntu), or rustup target add $target" >&2
	exit 1
}
"$RUSTC" --edition 2021 --crate-type cdylib --crate-name plugin --target $target -C opt-level=3 -C panic=abort \
	-C strip=symbols -C link-arg=-zstack-size=65536 -o plugin.wasm src/lib.rs
