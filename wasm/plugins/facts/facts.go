// Package facts proposes facts and events: who somebody is, has, likes and does,
// where things are, and what happened, with its time. Package rules reads the
// text.
package facts

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules"
)

// Version of the extractor, as its manifest says.
const Version = "1.1.0"

// Extract appends facts and events to out, and a reason for what it left out. It returns no
// error.
func Extract(ev *abi.Event, out *abi.Output) error {
	rules.Extract(ev, out, rules.Facts)
	return nil
}
