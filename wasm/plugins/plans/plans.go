// Package plans proposes what somebody is going to do: appointments, plans and promises with their
// dates, and their changes ("we moved the dentist to Friday", "不对，是周三"). Package rules reads the
// text.
package plans

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules"
)

// Version of the extractor, as its manifest says.
const Version = "1.0.0"

// Extract appends plans, changes and cancellations to out. It returns no error.
func Extract(ev *abi.Event, out *abi.Output) error {
	rules.Extract(ev, out, rules.Plans)
	return nil
}
