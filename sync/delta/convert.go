package delta

import (
	"fmt"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// acts lists the acts by their numbers on the wire, from 1.
var acts = [...]memory.Act{"", memory.ActPropose, memory.ActReinforce, memory.ActCorrect, memory.ActClose, memory.ActPin,
	memory.ActUnpin, memory.ActArchive, memory.ActRestore, memory.ActTag, memory.ActUntag, memory.ActErase, memory.ActWithdraw}

// converter converts the ops of one body between the domain and the wire, one
// after another. Times and sequence numbers are stored as differences from
// the previous ones, because these are small and often equal.
type converter struct {
	header *envelope.Header
	at     int64  // ms since 1970 of the last assertion or utterance; 0 before the first
	seq    uint64 // number of the last assertion; 0 before the first
}

func (c *converter) toWire(o *Op) wireOp {
	switch {
	case o.Assertion != nil:
		return wireOp{Assertion: c.assertionOut(o.Assertion)}
	case o.Utterance != nil:
		u := o.Utterance
		w := &wireUtterance{ID: u.ID, Event: eventOut(u.Event), Session: u.Session, At: c.timeOut(u.At), Zone: u.Zone,
			Speaker: u.Speaker, Lang: u.Lang, Text: u.Text, Place: u.Place, Source: sourceOut(u.Source), Redacted: u.Redacted, Received: c.timeOut(u.Received)}
		c.setTime(u.At)
		return wireOp{Utterance: w}
	case o.Forget != nil:
		f := o.Forget
		w := &wireForget{Memories: f.Memories, Utterances: f.Utterances, Blobs: f.Blobs}
		for _, e := range f.Events {
			w.Events = append(w.Events, wireEvent{Device: e.Device, Boot: e.Boot, Seq: e.Seq})
		}
		return wireOp{Forget: w}
	case o.Report != nil:
		return wireOp{Report: &wireReport{Number: o.Report.Number, Text: o.Report.Text}}
	case o.RemovedBodies != nil:
		w := make([]wireRemovedBody, len(o.RemovedBodies))
		for i, p := range o.RemovedBodies {
			w[i] = wireRemovedBody{Member: p.Member, Incarnation: p.Incarnation, Seq: p.Seq}
		}
		return wireOp{Gone: w}
	default:
		b := o.Blob
		return wireOp{Blob: &wireBlob{Name: b.Name, Sealed: b.Sealed, Size: b.Size, MediaType: b.MediaType, Key: b.Key,
			Event: eventOut(b.Event), Memory: idOut(b.Memory), Plain: b.Plain}}
	}
}

func (c *converter) fromWire(w *wireOp) (Op, error) {
	var o Op
	if w.Assertion != nil {
		a, err := c.assertionIn(w.Assertion)
		if err != nil {
			return o, err
		}
		o.Assertion = a
	}
	if u := w.Utterance; u != nil {
		o.Utterance = &memory.Utterance{ID: u.ID, Space: c.header.Space, Event: eventIn(u.Event), Session: u.Session, At: c.timeIn(u.At), Zone: u.Zone,
			Speaker: u.Speaker, Lang: u.Lang, Text: u.Text, Place: u.Place, Source: sourceIn(u.Source), Redacted: u.Redacted, Received: c.timeIn(u.Received)}
		c.setTime(o.Utterance.At)
	}
	if f := w.Forget; f != nil {
		o.Forget = &Forget{Memories: f.Memories, Utterances: f.Utterances, Blobs: f.Blobs}
		for i := range f.Events {
			o.Forget.Events = append(o.Forget.Events, eventIn(&f.Events[i]))
		}
	}
	if b := w.Blob; b != nil {
		o.Blob = &Blob{Name: b.Name, Sealed: b.Sealed, Size: b.Size, MediaType: b.MediaType, Key: b.Key, Event: eventIn(b.Event), Memory: idIn(b.Memory), Plain: b.Plain}
	}
	if r := w.Report; r != nil {
		o.Report = &Report{Number: r.Number, Text: r.Text}
	}
	for _, p := range w.Gone {
		o.RemovedBodies = append(o.RemovedBodies, Place{Member: p.Member, Position: envelope.Position{Incarnation: p.Incarnation, Seq: p.Seq}})
	}
	return o, nil
}

func (c *converter) assertionOut(a *memory.Assertion) *wireAssertion {
	seq, wall := a.Dot.Seq-c.seq, a.Clock.Wall-c.at
	c.seq, c.at = a.Dot.Seq, a.Clock.Wall
	w := &wireAssertion{Seq: seq, Wall: wall, Logical: a.Clock.Logical, Rank: a.Rank, Memory: a.Memory,
		Act: uint8(slices.Index(acts[:], a.Act)), Evidence: c.evidenceOut(a.Evidence), Tags: a.Tags, Source: sourceOut(a.Source), Reason: a.Reason, Into: idOut(a.Into)}
	for _, d := range a.Seen {
		wd := wireDot{Seq: d.Seq}
		if d.Member != c.header.Member {
			wd.Member = &d.Member
		}
		w.Seen = append(w.Seen, wd)
	}
	if a.Candidate != nil {
		w.Candidate = c.candidateOut(a.Candidate, a.Source)
	}
	if p := a.Patch; p != nil {
		w.Patch = &wirePatch{Text: p.Text, Value: p.Value, Sensitivity: (*uint8)(p.Sensitivity)}
		if p.Fields != nil {
			if w.Patch.Fields = c.fieldsOut(p.Fields); w.Patch.Fields == nil {
				w.Patch.Fields = new(wireFields) // no fields, which differs from no change of the fields
			}
		}
		if p.Metadata != nil {
			m := map[string]string(*p.Metadata)
			w.Patch.Metadata = &m
		}
		if v := p.Validity; v != nil {
			w.Patch.Validity = &wireValidity{From: c.timeOut(v.From), To: c.timeOut(v.To)}
		}
	}
	return w
}

func (c *converter) assertionIn(w *wireAssertion) (*memory.Assertion, error) {
	if w.Act == 0 || int(w.Act) >= len(acts) {
		return nil, fmt.Errorf("%w: act %d", ErrForm, w.Act)
	}
	c.seq, c.at = c.seq+w.Seq, c.at+w.Wall // modulo 2^64, as when encoding
	a := &memory.Assertion{Dot: memory.Dot{Member: c.header.Member, Seq: c.seq}, Clock: memory.Clock{Wall: c.at, Logical: w.Logical},
		Rank: w.Rank, Space: c.header.Space, Memory: w.Memory, Act: acts[w.Act], Evidence: c.evidenceIn(w.Evidence), Tags: w.Tags,
		Source: sourceIn(w.Source), Reason: w.Reason, Into: idIn(w.Into)}
	for _, d := range w.Seen {
		dot := memory.Dot{Member: c.header.Member, Seq: d.Seq}
		if d.Member != nil {
			dot.Member = *d.Member
		}
		a.Seen = append(a.Seen, dot)
	}
	if w.Candidate != nil {
		cand, err := c.candidateIn(w.Candidate, a.Source)
		if err != nil {
			return nil, err
		}
		a.Candidate = cand
	}
	if p := w.Patch; p != nil {
		a.Patch = &memory.Patch{Text: p.Text, Value: p.Value, Sensitivity: (*memory.Sensitivity)(p.Sensitivity)}
		if p.Sensitivity != nil && *a.Patch.Sensitivity > memory.Secret {
			return nil, fmt.Errorf("%w: patch.sensitivity %d", ErrForm, *p.Sensitivity)
		}
		if p.Fields != nil {
			f := c.fieldsIn(p.Fields)
			a.Patch.Fields = &f
		}
		if p.Metadata != nil {
			m := memory.Metadata(*p.Metadata)
			a.Patch.Metadata = &m
		}
		if v := p.Validity; v != nil {
			a.Patch.Validity = &memory.Validity{From: c.timeIn(v.From), To: c.timeIn(v.To)}
		}
	}
	return a, nil
}

func (c *converter) evidenceOut(es []memory.Evidence) []wireEvidence {
	var out []wireEvidence
	for _, e := range es {
		w := wireEvidence{Event: eventOut(e.Event), Utterance: idOut(e.Utterance), Speaker: e.Speaker, At: c.timeOut(e.At), Excerpt: e.Excerpt, Start: e.Start}
		if e.End != e.Start+len(e.Excerpt) {
			w.End = &e.End
		}
		out = append(out, w)
	}
	return out
}

func (c *converter) evidenceIn(ws []wireEvidence) []memory.Evidence {
	var out []memory.Evidence
	for _, w := range ws {
		e := memory.Evidence{Event: eventIn(w.Event), Utterance: idIn(w.Utterance), Speaker: w.Speaker, At: c.timeIn(w.At), Excerpt: w.Excerpt, Start: w.Start}
		e.End = e.Start + len(e.Excerpt)
		if w.End != nil {
			e.End = *w.End
		}
		out = append(out, e)
	}
	return out
}

// setTime sets the time to that of an utterance, if it has one.
func (c *converter) setTime(at time.Time) {
	if !at.IsZero() {
		c.at = at.UnixMilli()
	}
}

func (c *converter) timeOut(t time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	return &moment{ms: t.UnixMilli() - c.at, ns: uint32(t.Nanosecond() % int(time.Millisecond))}
}

func (c *converter) timeIn(m *moment) time.Time {
	if m == nil {
		return time.Time{}
	}
	return time.UnixMilli(c.at + m.ms).Add(time.Duration(m.ns)).UTC()
}

func eventOut(e memory.EventID) *wireEvent {
	if e.IsZero() {
		return nil
	}
	return &wireEvent{Device: e.Device, Boot: e.Boot, Seq: e.Seq}
}

func eventIn(w *wireEvent) memory.EventID {
	if w == nil {
		return memory.EventID{}
	}
	return memory.EventID{Device: w.Device, Boot: w.Boot, Seq: w.Seq}
}

func idOut(id memory.ID) *memory.ID {
	if id.IsZero() {
		return nil
	}
	return &id
}

func idIn(id *memory.ID) memory.ID {
	if id == nil {
		return memory.ID{}
	}
	return *id
}

func sourceOut(s memory.Source) *wireSource {
	if s == (memory.Source{}) {
		return nil
	}
	w := wireSource(s)
	return &w
}

func sourceIn(w *wireSource) memory.Source {
	if w == nil {
		return memory.Source{}
	}
	return memory.Source(*w)
}
