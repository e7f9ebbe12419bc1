// Package howto proposes how something is done, step by step, whether it is
// said in one go or over several turns. The reading is package rules's.
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
