package journal_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// The signing key decides who wrote a line. A worker that calls itself a
// device's extractor is still a worker. If it repeats a line of a device or of
// another worker, it does not become the author, in whatever order they come.
func TestThreatWorkerSaysAnothersLine(t *testing.T) {
	a, b := pair(t)
	device, worker, other := memory.MemberID{2}, memory.MemberID{7}, memory.MemberID{1}
	at := time.Unix(1_790_000_000, 0).UTC()
	ev := memory.EventID{Device: "pin", Boot: 1, Seq: 1}
	recording := memory.Candidate{Type: memory.Resource, Text: "A recording", Owner: memory.Owner{User: "me"}, Evidence: []memory.Evidence{{Event: ev, At: at}}, Confidence: 1,
		Sensitivity: memory.Private, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "audio/wav"}}}
	source := delta.Op{Assertion: &memory.Assertion{Dot: memory.Dot{Member: device, Seq: 1}, Clock: memory.Clock{Wall: at.UnixMilli()}, Space: memory.SpaceID{1}, Memory: memory.ID{1},
		Rank: memory.RankDevice, Act: memory.ActPropose, Candidate: &recording}}
	line := func(id memory.ID, plugin, zone string, redacted int) delta.Op {
		return delta.Op{Utterance: &memory.Utterance{ID: id, Event: ev, At: at, Zone: zone, Text: "Open from two", Redacted: redacted, Source: memory.Source{Plugin: plugin}}}
	}
	own, early, heard := memory.ID{3}, memory.ID{5}, worker.LineID(memory.ID{8: 4})
	seq := map[memory.MemberID]uint64{}
	come := func(l *journal.Journal, by memory.MemberID, op delta.Op) {
		t.Helper()
		seq[by]++
		in := replica.Incoming{Author: envelope.Member{ID: by}, Header: &envelope.Header{Version: envelope.Version, Space: l.Space, Member: by, Seq: seq[by]}, Ops: []delta.Op{op}}
		if by != device {
			in.Grant = &delta.Grant{Transcribe: true}
		}
		if err := l.Apply(t.Context(), in, replica.State{}); err != nil {
			t.Fatal(err)
		}
	}
	says := func(l *journal.Journal, id memory.ID) *memory.Utterance {
		t.Helper()
		var u *memory.Utterance
		if err := l.Store.View(t.Context(), func(tx *store.Tx) (err error) {
			u, err = tx.Utterance(id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return u
	}
	for name, m := range map[string]*member{"the device first": a, "the worker first": b} {
		l := &journal.Journal{Space: a.ring.Space(), Member: m.ring.Member(), Store: m.store}
		come(l, device, source)
		devices := []delta.Op{line(own, "speech", "Europe/Berlin", 0), line(early, "speech", "", 0)}
		// The second one looks as if secrets had been removed from it, which would give it
		// precedence.
		workers := []delta.Op{line(own, "worker/transcribe", "Zulu", 0), line(early, "zzz", "", 9), line(heard, "speech", "", 0)}
		order := []memory.MemberID{device, worker}
		if m == b {
			order = []memory.MemberID{worker, device}
		}
		for _, by := range order {
			ops := devices
			if by == worker {
				ops = workers
			}
			for _, op := range ops {
				come(l, by, op)
			}
		}
		for _, id := range []memory.ID{own, early} {
			if u := says(l, id); u.Source.Plugin != "speech" || u.Redacted != 0 || u.Zone == "Zulu" {
				t.Errorf("%s: line %s is %+v", name, id, u)
			}
		}
		// Another worker's line looks as if more secrets had been removed from it, and has greater
		// content.
		for _, id := range []memory.ID{heard, own, early} {
			come(l, other, delta.Op{Utterance: &memory.Utterance{ID: id, Event: ev, At: at, Text: "Zzz, nothing", Redacted: 99, Source: memory.Source{Plugin: "zzz"}}})
		}
		if u := says(l, own); u.Text != "Open from two" {
			t.Errorf("%s: the device's line says %q", name, u.Text)
		}
		if u := says(l, heard); u.Text != "Open from two" || u.Source.Plugin != "worker/speech" {
			t.Errorf("%s: the worker's line is %+v", name, u)
		}
	}
}

// A worker that adds lines without end to one recording, or dates them so that they are always the
// newest and never expire, is refused. Its lines are also counted by a device that begins with a
// snapshot. Lines of a recording whose date a person corrected are accepted at that date.
func TestThreatWorkerSaysLinesWithoutEnd(t *testing.T) {
	a, b := pair(t)
	device, worker := memory.MemberID{2}, memory.MemberID{7}
	at := time.Unix(1_790_000_000, 0).UTC()
	ev := memory.EventID{Device: "pin", Boot: 1, Seq: 1}
	h := &hand{t: t, grant: delta.Grant{Transcribe: true}}
	l := &journal.Journal{Space: a.ring.Space(), Member: a.ring.Member(), Store: a.store}
	source := delta.Op{Assertion: &memory.Assertion{Dot: memory.Dot{Member: device, Seq: 1}, Clock: memory.Clock{Wall: at.UnixMilli()}, Space: memory.SpaceID{1}, Memory: memory.ID{1},
		Rank: memory.RankDevice, Act: memory.ActPropose, Candidate: &memory.Candidate{Type: memory.Resource, Text: "A recording", Owner: memory.Owner{User: "me"}, Confidence: 1,
			Evidence: []memory.Evidence{{Event: ev, At: at}}, Sensitivity: memory.Private, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "audio/wav"}}}}}
	line := func(n int, at time.Time) delta.Op {
		id := memory.ID{13: byte(n >> 8), 14: byte(n), 15: 5}
		return delta.Op{Utterance: &memory.Utterance{ID: worker.LineID(id), Event: ev, At: at, Text: "so"}}
	}
	heard := func(m *member) (n int) {
		t.Helper()
		err := m.store.View(t.Context(), func(tx *store.Tx) error {
			for _, err := range tx.UtterancesOf(ev) {
				if err != nil {
					return err
				}
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	h.from(l, device, source)
	late := time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)
	if h.gives(l, line(0, late)) != 1 || heard(a) != 0 {
		t.Errorf("a line of the year 9000: %q", a.problems())
	}
	for n := 1; n < delta.MaxLines-1; n++ {
		h.gives(l, line(n, at))
	}
	if n := heard(a); n != delta.MaxLines-2 {
		t.Errorf("%d lines", n)
	}
	if aside := h.gives(l, line(delta.MaxLines-1, at), line(delta.MaxLines, at), line(7, at)); aside != 2 || heard(a) != delta.MaxLines-1 {
		t.Errorf("%d lines, and %q", heard(a), a.problems())
	}
	var items []delta.Item
	if err := l.EachLive(t.Context(), func(i *delta.Item) error {
		items = append(items, *i)
		return nil
	}); err == nil {
		t.Error("a snapshot was made while a line waits")
	}
	corrected := *source.Assertion
	corrected.Dot.Seq, corrected.Clock.Wall, corrected.Rank, corrected.Act, corrected.Candidate = 2, corrected.Clock.Wall+1, memory.RankPerson, memory.ActCorrect, nil
	corrected.Patch = &memory.Patch{Validity: &memory.Validity{From: late.Add(time.Hour)}}
	h.from(l, device, delta.Op{Assertion: &corrected})
	if n := heard(a); n != delta.MaxLines {
		t.Errorf("%d lines after the recording's date was corrected: %q", n, a.problems())
	}
	if err := l.EachLive(t.Context(), func(i *delta.Item) error {
		items = append(items, *i)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	l = &journal.Journal{Space: b.ring.Space(), Member: b.ring.Member(), Store: b.store}
	if err := l.Restore(t.Context(), items, nil); err != nil {
		t.Fatal(err)
	}
	if aside := h.gives(l, line(delta.MaxLines+1, at)); aside != 1 || heard(b) != delta.MaxLines {
		t.Errorf("from a snapshot: %d lines, and %q", heard(b), b.problems())
	}
}
