#!/bin/sh
# Installs Locket {{.Version}} into ~/.local, or where --to says. Nothing is unpacked
# before the signature of the release and the sum of the archive are verified.
#
#   sh install.sh [--to DIR] [--from URL-OR-FOLDER]
set -eu
version={{.Version}}
key={{.Key}}
from=https://github.com/locket-dev/locket/releases/download/v$version
to=$HOME/.local

die() {
	echo "install.sh: $*" >&2
	exit 1
}

while [ $# -gt 0 ]; do
	case $1 in
	--to) to=${2:?--to: the folder is missing}; shift 2 ;;
	--from) from=${2:?--from: the place is missing}; shift 2 ;;
	*) die "$1 is not known. Usage: sh install.sh [--to DIR] [--from URL-OR-FOLDER]" ;;
	esac
done

case $(uname -s) in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) die "there is no release for $(uname -s)" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
armv7* | armv8l) arch=armv7 ;;
riscv64) arch=riscv64 ;;
*) die "there is no release for $(uname -m)" ;;
esac
name=locket_${version}_${system}_$arch

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

get() { # a file of the release
	case $from in
	https://*)
		if command -v curl >/dev/null; then
			curl -fsSL --proto =https -o "$work/$1" "$from/$1"
		else
			wget -q -O "$work/$1" "$from/$1"
		fi
		;;
	*://*) die "--from: $from: only https:// and folders" ;;
	*) cp "$from/$1" "$work/$1" ;;
	esac || die "can't get $1 from $from"
}

# A minisign signature: 10 bytes that name the key, and one of Ed25519; then a
# comment, and a signature of the first with the comment.
by_openssl() {
	openssl version | grep -q '^OpenSSL [3-9]' || return 1
	printf %s "$key" | base64 -d >"$work/key" || return 1
	{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'; tail -c 32 "$work/key"; } >"$work/key.der"
	sed -n 2p "$work/SHA256SUMS.minisig" | base64 -d >"$work/sig" || return 1
	head -c 10 "$work/key" >"$work/id"
	head -c 10 "$work/sig" | cmp -s - "$work/id" || return 1
	tail -c 64 "$work/sig" >"$work/sig64"
	comment=$(sed -n '3s/^trusted comment: //p' "$work/SHA256SUMS.minisig")
	sed -n 4p "$work/SHA256SUMS.minisig" | base64 -d >"$work/sig2" || return 1
	{ cat "$work/sig64"; printf %s "$comment"; } >"$work/signed2"
	openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/SHA256SUMS" -sigfile "$work/sig64" >/dev/null 2>&1 &&
		openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$work/signed2" -sigfile "$work/sig2" >/dev/null 2>&1
}

get SHA256SUMS
get SHA256SUMS.minisig
if command -v minisign >/dev/null; then
	comment=$(minisign -VQm "$work/SHA256SUMS" -P "$key") || die "the signature of the release is not right: nothing is installed"
elif command -v openssl >/dev/null && openssl version | grep -q '^OpenSSL [3-9]'; then
	by_openssl || die "the signature of the release is not right: nothing is installed"
else
	die "minisign or OpenSSL 3 is needed to verify the release: install one of them first"
fi
[ "$comment" = "Locket v$version" ] || die "this is signed as $comment, and not as Locket v$version: nothing is installed"

get "$name.tar.gz"
want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
if command -v sha256sum >/dev/null; then
	have=$(sha256sum "$work/$name.tar.gz")
else
	have=$(shasum -a 256 "$work/$name.tar.gz")
fi
[ -n "$want" ] && [ "${have%% *}" = "$want" ] || die "$name.tar.gz is not the one that was released: nothing is installed"

tar -xzf "$work/$name.tar.gz" -C "$work"
(cd "$work/$name" && find bin share -type f) | while read -r file; do
	mkdir -p "$to/${file%/*}"
	cp "$work/$name/$file" "$to/$file.new"
	mv -f "$to/$file.new" "$to/$file" # one that runs goes on as it was
done
echo "Locket $version is in $to/bin. To begin: $to/bin/locket setup"
case :$PATH: in
*:"$to/bin":*) ;;
*) echo "$to/bin is not in your PATH yet." ;;
esac
