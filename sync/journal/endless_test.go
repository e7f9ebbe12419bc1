package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// endless is a relay whose deltas have no end while it lies: after the true ones it makes up others.
type endless struct {
	replica.Remote
	made  func(first []byte) []byte // makes up a delta, from the first one of the space
	first []byte
	lies  bool
	asked int // for made up ones
}

var errWithoutEnd = errors.New("asked without end")

func (e *endless) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	page, err := e.Remote.Deltas(ctx, after)
	if len(page) > 0 && e.first == nil {
		e.first = page[0].Delta
	}
	if !e.lies || len(page) > 0 || err != nil && !errors.Is(err, replica.ErrAhead) {
		return page, err
	}
	if e.asked++; e.asked > 20 {
		return nil, errWithoutEnd
	}
	for i := range uint64(1000) {
		page = append(page, replica.Placed{Cursor: after + i + 1, Delta: e.made(e.first)})
	}
	return page, nil
}

// A relay that makes up deltas without end does not keep a device from sending, nor from comparing
// what it knows with another device. Once the relay is honest, everything goes on.
func TestThreatDeltasWithoutEnd(t *testing.T) {
	for name, made := range map[string]func(first []byte) []byte{
		"rubbish":                  func([]byte) []byte { return []byte("rubbish") },
		"a delta that came before": func(first []byte) []byte { return first },
		"another member's header, not signed": func(first []byte) []byte {
			d, err := envelope.ParseDelta(first)
			if err != nil {
				t.Fatal(err)
			}
			d.Header.Member[0] ^= 1
			return d.Bytes()
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			a.sync()
			b.sync()
			f := &endless{made: made}
			a.close()
			a.remote = func(r replica.Remote) replica.Remote { f.Remote = r; return f }
			a.open()
			b.say(fact(1, "By b."))
			b.sync()
			a.sync()
			f.lies = true
			a.say(fact(2, "By a."))
			if err := a.Sync(t.Context()); err == nil || errors.Is(err, errWithoutEnd) {
				t.Errorf("after %d pages: %v", f.asked, err)
			}
			b.sync()
			if m := b.memory(memory.ID{2}); m == nil {
				t.Error("the device did not send")
			}
			h, err := b.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b.say(fact(3, "Also by b."))
			b.sync()
			f.asked = 0
			if _, err := a.Compare(t.Context(), h, true); errors.Is(err, errWithoutEnd) || f.asked > 15 {
				t.Errorf("comparing, after %d pages: %v", f.asked, err)
			}
			f.lies = false
			for range 20 { // a full read is tried in one of these rounds
				if err = a.Sync(t.Context()); err == nil {
					break
				}
			}
			if err != nil || a.memory(memory.ID{3}) == nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
