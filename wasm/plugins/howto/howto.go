// Package howto proposes instructions, step by step, whether they are given at once or over several
// turns. Package rules reads the text.
package howto

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules"
)

// Version of the extractor, as its manifest says.
const Version = "1.0.0"

// Extract appends guides to out. It returns no error.
func Extract(ev *abi.Event, out *abi.Output) error {
	rules.Extract(ev, out, rules.HowTo)
	return nil
}
