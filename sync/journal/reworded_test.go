package journal_test

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/journal"
)

// A worker's assertion is valid while its quote is in the line. If the line is
// redacted, the assertion is withdrawn, with what workers said about its
// memory, as if it had come after the redaction. No snapshot waits for it.
func TestAssertionMustQuoteItsLine(t *testing.T) {
	redacted := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes […].", Redacted: 1}
	back := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes plums, and […].", Redacted: 2}
	comment := func(seq uint64) delta.Op {
		text := "Ana likes ripe plums."
		a := cites(1, "").Assertion
		a.Dot.Seq, a.Act, a.Candidate, a.Patch = seq, memory.ActCorrect, nil, &memory.Patch{Text: &text}
		return delta.Op{Assertion: a}
	}
	away := func(seq uint64) delta.Op { // archives memory 2, which another line supports, into memory 1
		a := cites(2, "").Assertion
		a.Dot.Seq, a.Act, a.Candidate, a.Into = seq, memory.ActArchive, nil, memory.ID{1}
		return delta.Op{Assertion: a}
	}
	hear := func(m *member, l *journal.Journal, u memory.Utterance) {
		t.Helper()
		h := &hand{t: t}
		h.from(l, memory.MemberID{2}, delta.Op{Utterance: &u})
	}
	states := func(m *member) (out []memory.State) {
		for n := range byte(3) {
			if r := m.memory(memory.ID{n + 1}); r != nil {
				out = append(out, r.State)
			} else {
				out = append(out, "none")
			}
		}
		return out
	}
	other := cites(2, "Berries")
	other.Assertion.Candidate.Text, other.Assertion.Candidate.Evidence[0].Utterance = "Ana likes berries.", memory.ID{51}
	line := memory.Utterance{ID: memory.ID{51}, Event: memory.EventID{Device: "pin", Seq: 2}, Text: "Berries, too."}
	for name, first := range map[string]bool{"the words first": true, "the redaction first": false} {
		m, l := heard(t)
		hear(m, l, line)
		h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}
		say := func() { h.gives(l, cites(1, "plums"), other, comment(3), away(4)) }
		if first {
			say()
			if s := states(m); s[0] != memory.Active || s[1] != memory.Archived {
				t.Fatalf("%s: %v", name, s)
			}
		}
		hear(m, l, redacted)
		if !first {
			say()
		}
		if s := states(m); s[0] != "none" || s[1] != memory.Active {
			t.Errorf("%s, redacted: %v", name, s)
		}
		if err := l.EachLive(t.Context(), func(*delta.Item) error { return nil }); err != nil {
			t.Errorf("%s: it can't be sealed: %v", name, err)
		}
		err := m.store.View(t.Context(), func(tx *store.Tx) error {
			as, err := tx.Assertions(memory.ID{1})
			if len(as) > 0 {
				t.Errorf("%s: left of it %+v", name, as)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		hear(m, l, back)
		if s := states(m); s[0] != memory.Active || s[1] != memory.Archived {
			t.Errorf("%s, and back: %v", name, s)
		}
		if got := m.memory(memory.ID{1}); got != nil && got.Text != "Ana likes ripe plums." {
			t.Errorf("%s: %q", name, got.Text)
		}
	}
}
