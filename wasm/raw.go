package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/wasm/abi"
)

// Raw is an answer that was not decoded.
type Raw struct {
	Bytes  []byte // a copy
	Failed bool   // an error of the plugin's own
}

// Raw passes arbitrary bytes to the plugin in place of an event, and returns its answer. Authors
// use it to test their decoder with bad input, which the host itself never sends. The clock shows
// e's time, and what the manifest would strip does not matter here. A fault is a *Fault, and counts
// like any other.
func (p *Plugin) Raw(ctx context.Context, e *abi.Event, b []byte) (Raw, Usage, error) {
	if p.tally.disabled.Load() {
		return Raw{}, Usage{}, fmt.Errorf("%w: %s", ErrDisabled, p.manifest.ID)
	}
	if len(b) > abi.MaxInput {
		return Raw{}, Usage{In: len(b)}, fmt.Errorf("%w: %d bytes, at most %d", ErrInput, len(b), abi.MaxInput)
	}
	var raw Raw
	u, err := p.perform(ctx, e, b, func(a answer, _ *Usage) error {
		raw = Raw{Bytes: bytes.Clone(a.bytes), Failed: a.failed}
		return nil
	})
	var f *Fault
	if errors.As(err, &f) {
		p.fault(f, u)
		return Raw{}, u, err
	}
	if err == nil {
		p.tally.clean(u)
	}
	return raw, u, err
}
