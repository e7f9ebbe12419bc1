// Package facts proposes what was said to be so, and what happened: who
// somebody is, has, likes and does, where things are, and events with their
// time. The reading is package rules's.
package facts

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules"
)

// Version of the extractor, as its manifest says.
const Version = "1.1.0"

// Extract appends facts and events to out, and says of what it made nothing
// why. It returns no error.
func Extract(ev *abi.Event, out *abi.Output) error {
	rules.Extract(ev, out, rules.Facts)
	return nil
}
