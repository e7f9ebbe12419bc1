package carry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// A gap is never sealed, so that it can't wait in the spool (docs/mqtt.md). What the node has not
// acknowledged of gaps is in the state instead: the next start of a bridge that was killed says it again, under
// the same number.

const (
	// owedPart is the part of the state that has them.
	owedPart = "owed"
	// mostOwed is how many are kept so: the state is written whole with each. More wait where the node is away for
	// over a minute of losses.
	mostOwed = 64
)

// owed is a gap that the node has not acknowledged.
type owed struct {
	Boot   uint64    `json:"boot"`
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

func (o *owed) message() *wire.Gap {
	return &wire.Gap{Header: wire.Header{Boot: o.Boot, Seq: o.Seq, At: o.At}, Missing: memory.Range{From: o.Seq, To: o.Seq}, Reason: o.Reason}
}

// owe keeps a gap before it goes.
func (p *publisher) owe(o owed) {
	if p.state == nil || len(p.owed) >= mostOwed {
		return
	}
	p.owed = append(p.owed, o)
	p.keepOwed()
}

// paid is for when the node has answered a message: a gap that it was is kept no more.
func (p *publisher) paid(boot, seq uint64) {
	n := len(p.owed)
	if p.owed = slices.DeleteFunc(p.owed, func(o owed) bool { return o.Boot == boot && o.Seq == seq }); len(p.owed) < n {
		p.keepOwed()
	}
}

func (p *publisher) keepOwed() {
	if err := p.state.Keep(owedPart, p.owed); err != nil {
		p.tell(Note{What: "warning", Text: fmt.Sprintf("a gap would be lost with this process: %v", err)})
	}
}

// tellOwed says again what an earlier start said and the node did not acknowledge.
func (p *publisher) tellOwed(ctx context.Context) error {
	if err := p.state.Part(owedPart, &p.owed); err != nil {
		return err
	}
	for i := range p.owed {
		if _, err := p.publish(ctx, p.owed[i].message()); err != nil {
			return err
		}
	}
	return nil
}
