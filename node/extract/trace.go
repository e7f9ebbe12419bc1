package extract

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// Trace records how one event went through the plugins. It has no texts: the records
// have them, for as long as they are kept. It is the largest record of most events, so
// its fields are stored under numbers. A number must keep its meaning. Earlier
// versions stored names; such a trace is read as a trace of no event.
type Trace struct {
	Event    memory.EventID `cbor:"1,keyasint"`
	Kind     memory.Kind    `cbor:"2,keyasint"`
	At       time.Time      `cbor:"3,keyasint"`
	Redacted int            `cbor:"4,keyasint,omitempty"`
	Steps    []Step         `cbor:"5,keyasint"`
}

// Step is one call of a plugin.
type Step struct {
	Plugin      string   `cbor:"1,keyasint"`
	Version     string   `cbor:"2,keyasint"`
	Given       string   `cbor:"3,keyasint"`           // kind of the event that the plugin was given
	Depth       int      `cbor:"4,keyasint,omitempty"` // 0: the event itself; otherwise how often it was derived
	Usage       Usage    `cbor:"5,keyasint"`
	Fault       string   `cbor:"6,keyasint,omitempty"` // why the call failed, without the plugin's own words
	Annotations []string `cbor:"7,keyasint,omitempty"`
	Redactions  int      `cbor:"8,keyasint,omitempty"`
	Derived     int      `cbor:"9,keyasint,omitempty"`
	Refusals    int      `cbor:"10,keyasint,omitempty"`
	State       int      `cbor:"11,keyasint,omitempty"` // bytes
	Read        []string `cbor:"12,keyasint,omitempty"` // ids of memories that the plugin was shown
	Candidates  []Fate   `cbor:"13,keyasint,omitempty"`
}

// Fate is what happened to a candidate.
type Fate struct {
	Type    memory.Type    `cbor:"1,keyasint"`
	Memory  memory.ID      `cbor:"2,keyasint"` // zero: the candidate was refused
	Verdict memory.Verdict `cbor:"3,keyasint"`
	Reason  string         `cbor:"4,keyasint"`
}

// Usage is what one call used.
type Usage struct {
	Fuel    int64         `cbor:"1,keyasint"`
	Time    time.Duration `cbor:"2,keyasint"`
	Memory  int           `cbor:"3,keyasint"` // bytes, after the call
	In      int           `cbor:"4,keyasint"` // bytes of the messages
	Out     int           `cbor:"5,keyasint"` // bytes of the messages
	Late    bool          `cbor:"6,keyasint,omitempty"`
	Dropped []string      `cbor:"7,keyasint,omitempty"` // why candidates were left out: a place and a code
}

// Measured is a Plugin that tells what its calls used, and names its failures.
type Measured interface {
	Plugin
	Measure(ctx context.Context, ev *abi.Event) (abi.Output, Usage, error)
	// PublicError is the part of an error that may be kept, without anything that the
	// plugin said.
	PublicError(err error) string
}

// keptTraces is how many traces are kept. If one device sends all events, these are
// its last ones, because it numbers them; with several devices there are somewhat
// fewer.
const keptTraces = 1024

// traceSlot returns the record name of an event's trace. A trace of another event with
// the same slot replaces it.
func traceSlot(ev memory.EventID) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d", ev.Device, ev.Boot)
	return fmt.Sprintf("trace %d", (h.Sum64()+ev.Seq)%keptTraces)
}

// measure calls a plugin, and records the call.
func (p *pending) measure(ctx context.Context, pl Plugin, ev *abi.Event) (out abi.Output, err error) {
	s := Step{Plugin: pl.ID(), Version: pl.Version(), Given: ev.Kind, Depth: p.depth}
	for i := range ev.Memories {
		s.Read = append(s.Read, ev.Memories[i].ID)
	}
	if m, ok := pl.(Measured); ok {
		out, s.Usage, err = m.Measure(ctx, ev)
	} else {
		out, err = pl.Extract(ctx, ev)
	}
	if err != nil {
		s.Fault = publicReason(pl, err)
	}
	for _, why := range s.Usage.Dropped {
		s.Candidates = append(s.Candidates, Fate{Verdict: memory.Refuse, Reason: why})
	}
	for _, a := range out.Annotations {
		s.Annotations = append(s.Annotations, kindOf(a.Kind))
	}
	s.Redactions, s.Derived, s.Refusals, s.State = len(out.Redactions), len(out.Derived), len(out.Refusals), len(out.State)
	p.steps = append(p.steps, s)
	return out, err
}

// publicReason returns the part of a plugin's failure that may be kept and logged. The
// plugin's own words might quote what it was given.
func publicReason(pl Plugin, err error) string {
	if m, ok := pl.(Measured); ok {
		return m.PublicError(err)
	}
	return "failed"
}

// noteKinds are the kinds of annotation that a trace names. Other kinds are words
// that the plugin chose, which might repeat what it was given.
var noteKinds = []string{"language", "speech", "level", "clipping", "hash", "sharpness", "exposure", "scene"}

func kindOf(note string) string {
	if slices.Contains(noteKinds, note) {
		return note
	}
	return "other"
}

// fate records what happened to a candidate of the last call.
func (p *pending) fate(f Fate) {
	if n := len(p.steps); n > 0 {
		p.steps[n-1].Candidates = append(p.steps[n-1].Candidates, f)
	}
}

// saveTrace writes the trace in the transaction that it describes. known are the
// memories that proposals were like.
func (p *pending) saveTrace(tx *store.Tx, changes []memory.Change, known []memory.ID) error {
	verdicts := map[memory.ID]memory.Change{}
	for _, c := range changes {
		verdicts[c.Memory] = c
	}
	like := map[memory.ID]memory.ID{}
	for i, pr := range p.proposals {
		if !known[i].IsZero() {
			like[pr.id] = known[i]
		}
	}
	t := Trace{Event: p.event.ID, Kind: p.event.Kind, At: p.event.At, Redacted: p.redacted, Steps: p.steps}
	for i := range t.Steps {
		for j := range t.Steps[i].Candidates {
			f := &t.Steps[i].Candidates[j]
			if f.Memory.IsZero() {
				continue
			}
			if id, ok := like[f.Memory]; ok {
				f.Memory, f.Reason = id, "alike"
			}
			f.Verdict = memory.Noop
			if c, ok := verdicts[f.Memory]; ok {
				f.Verdict = c.Verdict
			}
		}
	}
	if p.addsToDone {
		var earlier Trace
		ok, err := tx.Meta(traceSlot(p.event.ID), &earlier)
		if err != nil {
			return err
		}
		if ok && earlier.Event == p.event.ID {
			earlier.Steps, earlier.Redacted = append(earlier.Steps, t.Steps...), earlier.Redacted+t.Redacted
			t = earlier
		}
	}
	return tx.PutMeta(traceSlot(p.event.ID), &t)
}

// forgetTrace deletes an event's trace, if there is one.
func forgetTrace(tx *store.Tx, ev memory.EventID) error {
	var t Trace
	ok, err := tx.Meta(traceSlot(ev), &t)
	if err != nil || !ok || t.Event != ev && t.Event != (memory.EventID{}) { // the record may have names instead of numbers
		return err
	}
	return tx.DeleteMeta(traceSlot(ev))
}

// TraceOf returns an event's trace. The error is memory.ErrNotFound if it is not kept
// any more, or the event is not done.
func (x *Extractor) TraceOf(ctx context.Context, ev memory.EventID) (t Trace, err error) {
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		ok, err := tx.Meta(traceSlot(ev), &t)
		if err == nil && (!ok || t.Event != ev) {
			err = memory.ErrNotFound
		}
		return err
	})
	if errors.Is(err, memory.ErrNotFound) {
		return Trace{}, fmt.Errorf("trace of event %s: %w", ev, err)
	}
	return t, err
}
