package carry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// A gap is never sealed, so it can't wait in the spool (docs/mqtt.md). Gaps that the node has not
// acknowledged are in the state instead: if the bridge is killed, the next start sends them again,
// under the same number.

const (
	// unackedPart is the part of the state that holds them.
	unackedPart = "owed" // as earlier versions wrote it
	// maxUnacked is how many gaps are kept. Each one rewrites the whole state. A node that is away for
	// more than a minute of losses misses the gaps above this number if the bridge is killed.
	maxUnacked = 64
)

// unackedGap is a gap that the node has not acknowledged.
type unackedGap struct {
	Boot   uint64    `json:"boot"`
	Seq    uint64    `json:"seq"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// message makes the message of a gap. A long reason is cut between two characters, as the node
// refuses text that is not UTF-8.
func (o *unackedGap) message() *wire.Gap {
	reason := strings.ToValidUTF8(o.Reason[:min(len(o.Reason), wire.MaxReason)], "")
	return &wire.Gap{Header: wire.Header{Boot: o.Boot, Seq: o.Seq, At: o.At}, Missing: memory.Range{From: o.Seq, To: o.Seq}, Reason: reason}
}

// noteUnacked stores a gap before it is sent.
func (p *publisher) noteUnacked(o unackedGap) {
	if p.state == nil || len(p.unacked) >= maxUnacked {
		return
	}
	p.unacked = append(p.unacked, o)
	p.keepUnacked()
}

// paid is called when the node has answered a message. If that was a gap, it is not stored any
// longer.
func (p *publisher) paid(boot, seq uint64) {
	n := len(p.unacked)
	if p.unacked = slices.DeleteFunc(p.unacked, func(o unackedGap) bool { return o.Boot == boot && o.Seq == seq }); len(p.unacked) < n {
		p.keepUnacked()
	}
}

func (p *publisher) keepUnacked() {
	if err := p.state.Keep(unackedPart, p.unacked); err != nil {
		p.tell(Note{What: "warning", Text: fmt.Sprintf("a gap would be lost with this process: %v", err)})
	}
}

// resendUnacked sends the gaps again that an earlier process sent and the node did not acknowledge.
func (p *publisher) resendUnacked(ctx context.Context) error {
	if err := p.state.Part(unackedPart, &p.unacked); err != nil {
		return err
	}
	for i := range p.unacked {
		if _, err := p.publish(ctx, p.unacked[i].message()); err != nil {
			return err
		}
	}
	return nil
}
