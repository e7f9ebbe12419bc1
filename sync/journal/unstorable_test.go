package journal_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

var (
	workers = memory.MemberID{9} // a worker with bad intentions
	line    = memory.Utterance{ID: memory.ID{77}, Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}, At: time.Unix(1_790_000_000, 0).UTC(), Text: "Hello."}
)

// hears has a member apply one delta of another. With a grant, the other is a
// worker.
func (m *member) hears(seq uint64, grant *delta.Grant, ops ...delta.Op) error {
	m.t.Helper()
	s, err := m.journal().State(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	in := replica.Incoming{At: time.Now(), Cursor: seq, Author: envelope.Member{ID: workers}, Header: &envelope.Header{Member: workers, Incarnation: 1, Seq: seq, Epoch: 1},
		Grant: grant, Ops: ops}
	return m.journal().Apply(m.t.Context(), in, s)
}

func anything() *delta.Grant { return &delta.Grant{Types: memory.Types[:], Transcribe: true} }

// claims returns a worker's proposal that quotes line and has so many bytes of
// metadata.
func (m *member) claims(seq uint64, bytes int) *memory.Assertion {
	f := fact(0, fmt.Sprint("Thing ", seq, "."))
	f.Memory, f.Dot, f.Rank, f.Space = memory.ID{9, byte(seq >> 8), byte(seq)}, memory.Dot{Member: workers, Seq: seq}, memory.RankCloud, m.ring.Space()
	f.Candidate.Evidence = []memory.Evidence{{Utterance: line.ID, Event: line.Event, Excerpt: "Hello"}}
	f.Candidate.Metadata = memory.Metadata{}
	for n := 0; bytes > 0; n++ {
		part := min(bytes, memory.MaxMetadataValue)
		f.Candidate.Metadata[fmt.Sprint(n)] = strings.Repeat("x", part)
		bytes -= part
	}
	return &f
}

func (m *member) hearsLines(n int) {
	m.t.Helper()
	m.update(func(tx *store.Tx) error {
		for i := range n {
			u := line
			u.ID, u.Space = memory.ID{77, byte(i)}, m.ring.Space()
			if err := tx.PutUtterance(&u); err != nil {
				return err
			}
		}
		return nil
	})
}

// If an op of a worker is larger than any record may be, it is quarantined,
// whether it waits or not, and the next delta is taken.
func TestOversizedOpIsQuarantined(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	for name, op := range map[string]func(m *member) delta.Op{
		"that waits": func(m *member) delta.Op {
			a := m.claims(1, 4000)
			a.Candidate.Type, a.Candidate.Fields = memory.Resource, memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Content: long}}
			return delta.Op{Assertion: a}
		},
		"with a reason as large": func(m *member) delta.Op {
			a := m.claims(1, 1)
			a.Candidate.Evidence = []memory.Evidence{{Event: memory.EventID{Device: strings.Repeat("d", 200_000), Seq: 1}}}
			return delta.Op{Assertion: a}
		},
		"of a line": func(m *member) delta.Op {
			u := line
			u.Space, u.Source.Model = m.ring.Space(), long
			return delta.Op{Utterance: &u}
		},
	} {
		m := newMember(t, serveRelay(t), nil)
		for seq := range uint64(3) {
			if err := m.hears(seq+1, anything(), op(m)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		ps, err := m.Problems(t.Context())
		if err != nil || len(ps) == 0 {
			t.Errorf("%s: %d problems, %v", name, len(ps), err)
		}
		if err := m.journal().Quarantine(t.Context(), replica.Problem{Reason: long}); err != nil {
			t.Errorf("%s: and another problem: %v", name, err)
		}
		for _, p := range ps {
			if len(p.Reason) > 600 {
				t.Errorf("%s: a reason has %d bytes", name, len(p.Reason))
			}
		}
	}
}

// If the store finds an op too large after it has written part of it, nothing
// of the op stays: no line that is listed but can't be read, and no memory
// without the assertion that it came from.
func TestOversizedOpLeavesNothing(t *testing.T) {
	m := newMember(t, serveRelay(t), nil)
	u := line
	u.Space, u.Source.Model = m.ring.Space(), strings.Repeat("x", 300_000)
	if err := m.hears(1, nil, delta.Op{Utterance: &u}, delta.Op{Assertion: m.claims(1, 1)}); err != nil {
		t.Fatal(err)
	}
	err := m.store.View(t.Context(), func(tx *store.Tx) error {
		for _, err := range tx.Utterances(time.Time{}, time.Time{}) {
			return err
		}
		return nil
	})
	if err != nil {
		t.Errorf("lines by their time: %v", err)
	}
	if m.memory(memory.ID{9, 0, 1}) == nil {
		t.Error("what came after it in the delta was not taken")
	}
	for seq := range uint64(3) {
		a := m.claims(10+seq, 1)
		a.Memory = memory.ID{5}
		a.Candidate.Slot = &memory.Slot{Subject: "wearer", Attribute: "name", Value: "x"}
		for i := range 1500 {
			a.Candidate.Tags = append(a.Candidate.Tags, fmt.Sprintf("%0100d of %d", i, seq))
		}
		if err := m.hears(2+seq, nil, delta.Op{Assertion: a}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.memory(memory.ID{5}).Tags); n != 1500 {
		t.Errorf("it has %d tags", n)
	}
	mine := fact(6, "Her name is Y.")
	mine.Candidate.Slot = &memory.Slot{Subject: "wearer", Attribute: "name", Value: "y"}
	m.say(mine)
	last := m.claims(13, 1)
	err = m.store.View(t.Context(), func(tx *store.Tx) error {
		dots, err := tx.LastDots()
		if !slices.Contains(dots, memory.Dot{Member: last.Dot.Member, Seq: 12}) {
			t.Errorf("numbers in use: %v", dots)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Whether a worker's large op is taken does not depend on whether it had to
// wait.
func TestOversizedOpsInAnyOrder(t *testing.T) {
	before, after := newMember(t, serveRelay(t), nil), newMember(t, serveRelay(t), nil)
	before.hearsLines(1)
	sizes := []int{}
	for bytes := 259_000; bytes < 262_144; bytes += 64 { // with 2,000 bytes of tags, this is about a record's limit
		sizes = append(sizes, bytes)
	}
	took := func(m *member) (out []int) {
		for i, bytes := range sizes {
			if m.memory(memory.ID{9, 0, byte(i + 1)}) != nil {
				out = append(out, bytes)
			}
		}
		return out
	}
	for i, bytes := range sizes {
		for _, m := range []*member{before, after} {
			a := m.claims(uint64(i+1), bytes)
			for tag := range 20 {
				a.Candidate.Tags = append(a.Candidate.Tags, fmt.Sprintf("%0100d", tag))
			}
			if err := m.hears(uint64(i+1), &delta.Grant{Types: memory.Types[:], PerEvidence: 256}, delta.Op{Assertion: a}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if some := took(after); len(some) > 0 {
		t.Fatalf("taken without what they quote: %v", some)
	}
	after.hearsLines(1)
	after.sync()
	first, then := took(before), took(after)
	if !slices.Equal(first, then) {
		t.Errorf("of that many bytes were taken after the line %v, before it %v", first, then)
	}
	if len(first) == 0 || len(first) == len(sizes) {
		t.Errorf("%d of %d were taken: the limit is not among them", len(first), len(sizes))
	}
}

// If as many ops as may wait become ready at once, they are more than one
// transaction holds. All of them are taken.
func TestManyWaitingOpsBecomeReady(t *testing.T) {
	const n = 250
	m := newMember(t, serveRelay(t), nil)
	var ops []delta.Op
	for seq := range uint64(n) {
		a := m.claims(seq+1, 1)
		a.Candidate.Evidence[0].Utterance = memory.ID{77, byte(seq / 16)}
		ops = append(ops, delta.Op{Assertion: a})
	}
	if err := m.hears(1, anything(), ops...); err != nil {
		t.Fatal(err)
	}
	m.hearsLines(n/16 + 1)
	m.sync()
	for _, op := range ops {
		if m.memory(op.Assertion.Memory) == nil {
			t.Fatalf("%d waits still", op.Assertion.Dot.Seq)
		}
	}
	if ps, err := m.Problems(t.Context()); err != nil || len(ps) > 0 {
		t.Errorf("%d problems are left, %v", len(ps), err)
	}
}

// A snapshot with a record that no store can hold is refused with
// delta.ErrForm, so that it is not tried again and again.
func TestSnapshotWithAnOversizedRecord(t *testing.T) {
	m := newMember(t, serveRelay(t), nil)
	u := line
	u.Space, u.Source.Model = m.ring.Space(), strings.Repeat("x", 300_000)
	if err := m.journal().Restore(t.Context(), []delta.Item{{Op: delta.Op{Utterance: &u}}}, nil); !errors.Is(err, delta.ErrForm) {
		t.Errorf("restore: %v", err)
	}
}
