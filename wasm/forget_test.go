package wasm

import (
	"context"
	"errors"
	"testing"
)

// TestForget: afterwards nothing is left of a plugin's input, neither in its memory nor among its
// log lines.
func TestForget(t *testing.T) {
	everywhere(t, func(t *testing.T, load loader) {
		h := newHost(t, Options{})
		hoards := new(asm).plugin( // trap if the memory is not in its initial state
			i32c(0), []byte{0x28, 2, 0, 0x04, 0x40, 0x00, 0x0b}, i32c(0), i32c(1), []byte{0x36, 2, 0}, i64c(0))
		p := load.must(t, h, hoards, testManifest())
		talks, err := load(t, h, logFlood(), testManifest(CapLog))
		if err != nil {
			t.Fatal(err)
		}
		for i, forget := range []bool{true, false} {
			if _, _, err := p.Extract(context.Background(), someText()); err != nil {
				t.Errorf("call %d: %v", i, err)
			}
			if _, _, err := talks.Extract(context.Background(), someText()); err != nil || len(talks.Logs()) == 0 {
				t.Errorf("%d lines, %v", len(talks.Logs()), err)
			}
			if !forget {
				continue
			}
			if err := h.Forget(); err != nil || len(talks.Logs()) != 0 {
				t.Errorf("%d lines, %v", len(talks.Logs()), err)
			}
		}
		if _, _, err := p.Extract(context.Background(), someText()); !errors.Is(err, ErrTrap) {
			t.Errorf("without it: %v", err)
		}
	})
}
