// Package plugintest has small plugins for tests: hand-written modules of the contract, and
// requests that install them.
package plugintest

import (
	"fmt"

	"github.com/locket-dev/locket/node/serve"
)

// SilentModule receives an event and answers nothing. TrappingModule traps on each event.
var (
	SilentModule   = []byte(module + "\x0a\x11\x03\x04\x00\x41\x01\x0b\x05\x00\x41\x80\x20\x0b\x04\x00\x42\x00\x0b")
	TrappingModule = []byte(module + "\x0a\x10\x03\x04\x00\x41\x01\x0b\x05\x00\x41\x80\x20\x0b\x03\x00\x00\x0b")
)

// module is a module without its code.
const module = "\x00asm\x01\x00\x00\x00" +
	"\x01\x10\x03\x60\x00\x01\x7f\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x01\x7e" + // () i32, (i32) i32, (i32 i32) i64
	"\x03\x04\x03\x00\x01\x02" +
	"\x05\x03\x01\x00\x02" + // two pages
	"\x07\x37\x04" +
	"\x06memory\x02\x00\x0alocket_abi\x00\x00\x0clocket_alloc\x00\x01\x0elocket_extract\x00\x02"

// Manifest returns Silent's manifest; more has additional lines.
func Manifest(version, more string) string {
	return fmt.Sprintf("id = \"suite/silent\"\nversion = \"%s\"\nabi = 1\nkinds = [\"text\"]\ntypes = [\"semantic\"]\n%s", version, more)
}

// Silent installs a plugin that receives texts and answers nothing; more has additional lines of
// its manifest.
func Silent(version, more string) serve.InstallPluginRequest {
	return serve.InstallPluginRequest{Manifest: Manifest(version, more), Module: SilentModule, Agreed: []string{"proposes semantic", "sees text"}, Unsigned: true}
}

// Trapping installs a plugin that redacts, and fails on each text.
func Trapping() serve.InstallPluginRequest {
	r := Silent("1.0.0", "capabilities = [\"redact\"]\n")
	r.Module, r.Agreed = TrappingModule, append(r.Agreed, "may redact")
	return r
}
