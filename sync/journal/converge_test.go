package journal_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// author is a member whose deltas reach every replica in the order in which they were made.
type author struct {
	id    memory.MemberID
	grant *delta.Grant // nil: an owner
	seq   uint64
	said  []delta.Op
}

// round is a history with ids of its own, so that one pair of stores serves all rounds.
type round struct {
	n       int
	authors []*author
	all     []memory.Assertion
}

func (r *round) memory(i int) memory.ID {
	return memory.ID{0x80, byte(r.n >> 16), byte(r.n >> 8), byte(r.n), byte(i)}
}
func (r *round) heard(i int) memory.Utterance {
	return memory.Utterance{ID: memory.ID{0x90, 8: byte(r.n >> 16), 9: byte(r.n >> 8), 10: byte(r.n), 11: byte(i)}, Event: memory.EventID{Device: "pin", Boot: uint64(r.n), Seq: uint64(i)},
		At: time.Unix(1_790_000_000, 0).UTC(), Text: "Mei moved to Suzhou, Berlin and Rome."}
}

// transcriber is the worker that may add lines of its own.
var transcriber = memory.MemberID{1}

// line returns one of the lines that authors make and cite: a device's, or the worker's.
func (r *round) line(t *rapid.T, what string) memory.Utterance {
	u := r.heard(rapid.IntRange(0, 2).Draw(t, what))
	if rapid.Bool().Draw(t, what+" a worker") {
		u.ID = transcriber.LineID(u.ID)
	}
	return u
}

// recording returns the recording of every line, which a worker may transcribe.
func (r *round) recording() delta.Op {
	at := time.Unix(1_790_000_000, 0).UTC()
	c := &memory.Candidate{Type: memory.Resource, Text: "A recording", Owner: memory.Owner{User: fmt.Sprint("Mei ", r.n)}, Confidence: 1, Sensitivity: memory.Personal,
		Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "audio/wav"}}}
	for i := range 3 {
		c.Evidence = append(c.Evidence, memory.Evidence{Event: r.heard(i).Event, At: at})
	}
	return delta.Op{Assertion: &memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{2}, Seq: uint64(r.n)<<10 | 1000}, Clock: memory.Clock{Wall: at.UnixMilli()}, Space: memory.SpaceID{1},
		Memory: r.memory(9), Rank: memory.RankDevice, Act: memory.ActPropose, Candidate: c}}
}

// end removes the round's waiting ops from the list, whose length is limited.
func (r *round) end(t *rapid.T, l *journal.Journal) {
	gone := store.Targets{Memories: []memory.ID{r.memory(1), r.memory(2), r.memory(3)}, Utterances: []memory.ID{r.heard(0).ID, r.heard(1).ID, r.heard(2).ID}}
	for _, id := range gone.Utterances[:3] {
		gone.Utterances = append(gone.Utterances, transcriber.LineID(id))
	}
	if err := l.Store.Update(t.Context(), func(tx *store.Tx) error { return l.Withdraw(tx, gone) }); err != nil {
		t.Fatal(err)
	}
}

// say generates what an author says next. A worker also tries what it may not do.
func (r *round) say(t *rapid.T, by *author, minute int) {
	worker := by.grant != nil
	if (!worker || by.grant.Transcribe) && rapid.IntRange(0, 2).Draw(t, "utterance") == 0 {
		u := r.line(t, "of")
		switch rapid.IntRange(0, 2).Draw(t, "words") {
		case 1:
			u.Text, u.Redacted = "Mei moved to […], Berlin and Rome.", 1
		case 2:
			u.Text = "Mei moved to Rome."
		}
		by.said = append(by.said, delta.Op{Utterance: &u})
		return
	}
	by.seq++
	at := time.Unix(1_790_000_000+int64(minute)*60, 0).UTC()
	a := memory.Assertion{Dot: memory.Dot{Member: by.id, Seq: uint64(r.n)<<10 | by.seq}, Clock: memory.Clock{Wall: at.UnixMilli()}, Space: memory.SpaceID{1},
		Memory: r.memory(rapid.IntRange(1, 3).Draw(t, "memory")), Rank: memory.RankCloud, Source: memory.Source{Plugin: "test"}}
	if !worker {
		a.Rank = memory.Rank(rapid.IntRange(2, 3).Draw(t, "rank"))
	}
	town := rapid.SampledFrom([]string{"Suzhou", "Berlin", "Rome"}).Draw(t, "town")
	u := r.line(t, "cites")
	evidence := []memory.Evidence{{Event: u.Event, Utterance: u.ID, At: at, Excerpt: town}}
	acts := []memory.Act{memory.ActPropose, memory.ActPropose, memory.ActReinforce, memory.ActCorrect, memory.ActCorrect, memory.ActClose, memory.ActArchive}
	if !worker {
		acts = append(acts, memory.ActPin, memory.ActPin, memory.ActUnpin, memory.ActRestore, memory.ActTag, memory.ActErase, memory.ActWithdraw)
	}
	switch a.Act = rapid.SampledFrom(acts).Draw(t, "act"); a.Act {
	case memory.ActPropose:
		kind := rapid.SampledFrom([]memory.Type{memory.Semantic, memory.Semantic, memory.Episodic}).Draw(t, "type")
		a.Candidate = &memory.Candidate{Type: kind, Text: "Mei lives in " + town + ".", Owner: memory.Owner{User: fmt.Sprint("Mei ", r.n)},
			Slot: &memory.Slot{Subject: "user", Attribute: "home", Value: town}, Tags: []string{town}, Evidence: evidence, Confidence: .9,
			Sensitivity: rapid.SampledFrom([]memory.Sensitivity{memory.Personal, memory.Private, memory.Secret}).Draw(t, "sensitivity")}
	case memory.ActReinforce:
		a.Evidence = evidence
	case memory.ActCorrect:
		text, s := fmt.Sprintf("%s, as of %d", town, minute), rapid.SampledFrom([]memory.Sensitivity{memory.Personal, memory.Private, memory.Secret}).Draw(t, "sensitivity")
		a.Patch = rapid.SampledFrom([]*memory.Patch{{Text: &text}, {Value: &town}, {Sensitivity: &s}}).Draw(t, "patch")
	case memory.ActClose:
		a.Patch = &memory.Patch{Validity: &memory.Validity{To: at}}
	case memory.ActArchive:
		if into := r.memory(rapid.IntRange(1, 3).Draw(t, "into")); into != a.Memory {
			a.Into = into
		}
	case memory.ActTag:
		a.Tags = []string{town}
	case memory.ActPin, memory.ActUnpin, memory.ActErase:
		a.Rank = memory.RankPerson
	case memory.ActWithdraw:
		a.Seen = []memory.Dot{{Member: memory.MemberID{7}, Seq: uint64(r.n)<<10 | 1}}
	}
	if a.Act != memory.ActWithdraw && rapid.Bool().Draw(t, "knew") {
		for _, d := range reconcile.Overrules(r.all, &a) {
			if !worker || d.Member == by.id {
				a.Seen = append(a.Seen, d)
			}
		}
	}
	r.all = append(r.all, a)
	by.said = append(by.said, delta.Op{Assertion: &a})
}

// come gives a replica everything that was said: each author's ops in their order, those of
// different authors in any order, some of them twice. With packs, memories turn cold meanwhile, and
// come back when something requests them.
func (r *round) come(t *rapid.T, l *journal.Journal, cold packs) {
	next := make([]int, len(r.authors))
	take := func(i, k int) {
		by := r.authors[i]
		h := &envelope.Header{Version: envelope.Version, Space: l.Space, Member: by.id, Incarnation: uint64(r.n), Seq: uint64(k + 1)}
		in := replica.Incoming{Author: envelope.Member{ID: by.id}, Header: h, Ops: by.said[k : k+1], Grant: by.grant}
		if err := l.Apply(t.Context(), in, replica.State{}); err != nil {
			t.Fatal(err)
		}
	}
	for {
		var left []int
		for i, by := range r.authors {
			if next[i] < len(by.said) {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			if cold != nil {
				cold.thaw(t, l) // requested memories first, as on a device
				cold.thaw(t, l, r.memory(1), r.memory(2), r.memory(3))
				cold.thaw(t, l)
			}
			return
		}
		if cold != nil {
			switch rapid.IntRange(0, 5).Draw(t, "cools") {
			case 0:
				cold.freeze(t, l, true, r.memory(rapid.IntRange(1, 3).Draw(t, "cold")))
			case 1:
				cold.thaw(t, l)
			case 2:
				cold.thaw(t, l, r.memory(rapid.IntRange(1, 3).Draw(t, "back")))
			}
		}
		i := rapid.SampledFrom(left).Draw(t, "next")
		take(i, next[i])
		if rapid.IntRange(0, 9).Draw(t, "twice") == 0 {
			take(i, next[i])
		}
		next[i]++
	}
}

// holds returns what a replica has of a round: its assertions, and what follows from them.
func (r *round) holds(t *rapid.T, l *journal.Journal) string {
	var out []any
	err := l.Store.View(t.Context(), func(tx *store.Tx) error {
		for i := 1; i <= 3; i++ {
			as, err := tx.Assertions(r.memory(i))
			if err != nil {
				return err
			}
			slices.SortFunc(as, func(a, b memory.Assertion) int { return a.Dot.Compare(b.Dot) })
			m, err := tx.Memory(r.memory(i))
			out = append(out, as, m, fmt.Sprint(err))
		}
		for i := range 3 {
			u, err := tx.Utterance(r.heard(i).ID)
			out = append(out, u, err != nil)
		}
		dots, err := tx.LastDots()
		out = append(out, dots)
		return err
	})
	b, e := json.MarshalIndent(out, "", " ")
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
	return string(b)
}

// Statements of a person, a device and two workers come in any order. Every replica must store and
// show the same. The statements include pins, erasures, corrections and withdrawals before and
// after a worker's statement, and on one replica some memories are cold.
func TestWorkersAssertionsInAnyOrder(t *testing.T) {
	a, b := pair(t)
	var ls []*journal.Journal
	for _, m := range []*member{a, b} {
		ls = append(ls, &journal.Journal{Space: a.ring.Space(), Member: m.ring.Member(), Store: m.store})
	}
	n, cold := 0, packs{}
	rapid.Check(t, func(t *rapid.T) {
		n++
		r := &round{n: n, authors: []*author{{id: memory.MemberID{2}}, {id: memory.MemberID{7}, grant: &delta.Grant{Types: []memory.Type{memory.Semantic}}},
			{id: transcriber, grant: &delta.Grant{Types: []memory.Type{memory.Semantic, memory.Episodic}, Transcribe: true}}}}
		r.authors[0].said = append(r.authors[0].said, r.recording())
		for i := range 2 {
			u := r.heard(i)
			r.authors[0].said = append(r.authors[0].said, delta.Op{Utterance: &u})
		}
		for minute := range rapid.IntRange(2, 12).Draw(t, "steps") {
			r.say(t, rapid.SampledFrom(r.authors).Draw(t, "who"), minute)
		}
		r.come(t, ls[0], nil)
		r.come(t, ls[1], cold)
		defer r.end(t, ls[0])
		defer r.end(t, ls[1])
		if x, y := r.holds(t, ls[0]), r.holds(t, ls[1]); x != y {
			t.Fatalf("two replicas differ in\n%s\nof\n%s", difference(x, y), x)
		}
	})
}

// difference returns the lines that only one of two texts has.
func difference(x, y string) string {
	var b strings.Builder
	as, bs := strings.Split(x, "\n"), strings.Split(y, "\n")
	for i := range max(len(as), len(bs)) {
		switch {
		case i >= len(as):
			fmt.Fprintf(&b, "%d: + %s\n", i, bs[i])
		case i >= len(bs):
			fmt.Fprintf(&b, "%d: - %s\n", i, as[i])
		case as[i] != bs[i]:
			fmt.Fprintf(&b, "%d: - %s\n%d: + %s\n", i, as[i], i, bs[i])
		}
	}
	return b.String()
}
