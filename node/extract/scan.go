package extract

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/wasm/abi"
)

// HoldsSecret reports whether the plugins that look for secrets would take
// something out of a text that did not come from a wearable. It looks at each line
// with the line before it as context, as if it had been said. Only one call may run
// at a time, and no event may be processed meanwhile.
func (x *Extractor) HoldsSecret(ctx context.Context, text string) (bool, error) {
	var before []abi.Turn
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		found, err := x.scan(ctx, line, before)
		if err != nil || found {
			return found, err
		}
		before = []abi.Turn{{ID: "scan/0/0", At: time.Now().UnixMilli(), Text: line}}
	}
	return false, nil
}

func (x *Extractor) scan(ctx context.Context, line string, before []abi.Turn) (bool, error) {
	for _, pl := range x.plugins {
		if !pl.RunsFirst() || !pl.Wants("text") {
			continue
		}
		out, err := pl.Extract(ctx, &abi.Event{ID: "scan/0/1", Kind: "text", At: time.Now().UnixMilli(), Zone: "UTC", Wearer: x.cfg.Wearer, Text: line, Before: before})
		if err != nil {
			return false, fmt.Errorf("look for secrets: %w", err)
		}
		if len(out.Redactions) > 0 {
			return true, nil
		}
	}
	return false, nil
}
