package journal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/journal"
)

// The large texts that a worker may attach to one line, and to a memory made
// from it, are more than one transaction can take back. If the line changes,
// here, by another device or by a snapshot, they are taken back all the same.
// They return when the line returns.
func TestMuchIsTakenBack(t *testing.T) {
	const quotes, comments = 14, 10
	long := strings.Repeat("Ana likes plums. ", 3800) // 64,600 bytes
	redacted := memory.Utterance{ID: memory.ID{50}, Event: memory.EventID{Device: "pin", Seq: 1}, Text: "Ana likes […].", Redacted: 1}
	back := redacted
	back.Text, back.Redacted = "Ana likes plums.", 2
	line := memory.Utterance{ID: memory.ID{51}, Event: memory.EventID{Device: "pin", Seq: 2}, Text: "Berries, too."}
	for name, change := range map[string]func(m *member, l *journal.Journal, h *hand, u memory.Utterance){
		"by another": func(_ *member, l *journal.Journal, h *hand, u memory.Utterance) {
			h.from(l, memory.MemberID{2}, delta.Op{Utterance: &u})
		},
		"here": func(m *member, _ *journal.Journal, _ *hand, u memory.Utterance) {
			m.update(func(tx *store.Tx) error { return tx.PutUtterance(&u) })
			m.sync()
		},
		"by a snapshot": func(_ *member, l *journal.Journal, h *hand, u memory.Utterance) {
			if err := l.Restore(t.Context(), []delta.Item{{Op: delta.Op{Utterance: &u}}}, nil); err != nil {
				t.Fatal(err)
			}
			h.from(l, memory.MemberID{2}, delta.Op{Utterance: &line}) // any further delta
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, l := heard(t)
			h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}}}
			h.from(l, memory.MemberID{2}, delta.Op{Utterance: &line})
			for n := range byte(quotes) { // these memories have a second quote that supports them, except the first
				stays, goes := cites(n+1, "Berries"), cites(n+1, "plums")
				stays.Assertion.Candidate.Text, stays.Assertion.Candidate.Evidence[0].Utterance = fmt.Sprint("Berries, ", n), memory.ID{51}
				goes.Assertion.Dot.Seq, goes.Assertion.Candidate.Text = 100+uint64(n), long+fmt.Sprint(n)
				goes.Assertion.Clock.Wall = 100
				if n == 0 {
					h.gives(l, goes)
				} else {
					h.gives(l, stays, goes)
				}
			}
			for n := range uint64(comments) { // nothing else supports this memory
				text := long + fmt.Sprint("Comment ", n)
				a := cites(1, "").Assertion
				if n > 0 {
					a.Seen = []memory.Dot{{Member: a.Dot.Member, Seq: 199 + n}}
				}
				a.Dot.Seq, a.Clock.Wall, a.Act, a.Candidate, a.Patch = 200+n, int64(200+n), memory.ActCorrect, nil, &memory.Patch{Text: &text}
				h.gives(l, delta.Op{Assertion: a})
			}
			texts := func(want int) {
				t.Helper()
				for n := range byte(quotes) {
					r := m.memory(memory.ID{n + 1})
					if got := r != nil && len(r.Text) > 1000; got != (want > 0) || r == nil && n > 0 {
						t.Errorf("memory %d is long: %v, there: %v", n+1, got, r != nil)
					}
				}
			}
			texts(1)
			change(m, l, h, redacted)
			texts(0)
			change(m, l, h, back)
			texts(1)
			if r := m.memory(memory.ID{1}); r != nil && !strings.HasSuffix(r.Text, fmt.Sprint("Comment ", comments-1)) {
				t.Errorf("it ends in %q", r.Text[len(r.Text)-20:])
			}
			if p := m.problems(); len(p) > 0 {
				t.Errorf("left are %d problems, as %q", len(p), p[0])
			}
		})
	}
}

// A line that waited for its recording takes back as much when it comes. The
// texts that depend on it are neither asked again before it is there, nor lost.
func TestMuchIsTakenBackByALineThatWaited(t *testing.T) {
	m, l := heard(t)
	h := &hand{t: t, grant: delta.Grant{Types: []memory.Type{memory.Semantic}, Transcribe: true}}
	own := memory.MemberID{7}.LineID(memory.ID{15: 60})
	recording := func(n byte) delta.Op {
		op := proposes(80+n, 80+uint64(n), memory.Resource)
		op.Assertion.Candidate.Fields = memory.Fields{Resource: &memory.ResourceFields{MediaType: "audio/wav"}}
		op.Assertion.Candidate.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Seq: uint64(n)}, At: time.UnixMilli(1)}}
		return op
	}
	line := func(text string, redacted int, of uint64) delta.Op {
		return delta.Op{Utterance: &memory.Utterance{ID: own, Event: memory.EventID{Device: "pin", Seq: of}, At: time.UnixMilli(1), Text: text, Redacted: redacted}}
	}
	h.from(l, memory.MemberID{2}, recording(1))
	h.gives(l, line("Ana likes plums.", 0, 1))
	const quotes = 14
	long := strings.Repeat("Ana likes plums. ", 3800)
	for n := range byte(quotes) {
		op := cites(n+1, "plums")
		op.Assertion.Candidate.Text, op.Assertion.Candidate.Evidence[0].Utterance = long+fmt.Sprint(n), own
		h.gives(l, op)
	}
	there := func() (n int) {
		for i := range byte(quotes) {
			if m.memory(memory.ID{i + 1}) != nil {
				n++
			}
		}
		return n
	}
	if aside := h.gives(l, line("Ana likes […].", 1, 2)); aside != 1 || there() != quotes {
		t.Fatalf("%d wait, and %d are there: %q", aside, there(), m.problems())
	}
	h.from(l, memory.MemberID{2}, recording(2))
	if n := there(); n > 0 || len(m.problems()) != quotes {
		t.Errorf("%d are there, and %d wait", n, len(m.problems()))
	}
	h.gives(l, line("Ana likes plums.", 2, 1))
	if n := there(); n != quotes || len(m.problems()) != 0 {
		t.Errorf("%d came back, and %d wait", n, len(m.problems()))
	}
}
