package delta_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

var epochStart = time.Date(2026, 9, 14, 7, 0, 0, 0, time.UTC)

// replica works separately: it makes assertions, some about what it has heard from others.
type replica struct {
	id    memory.MemberID
	skew  time.Duration
	seq   uint64
	knows []memory.Assertion
	said  []memory.Assertion
}

func (r *replica) say(t *rapid.T, minute int) {
	r.seq++
	at := epochStart.Add(time.Duration(minute) * time.Minute)
	a := memory.Assertion{Dot: memory.Dot{Member: r.id, Seq: r.seq}, Clock: memory.Clock{Wall: at.Add(r.skew).UnixMilli()},
		Space: memory.SpaceID{1}, Memory: memory.ID{byte(rapid.IntRange(1, 4).Draw(t, "memory"))},
		Rank: memory.Rank(rapid.IntRange(1, 3).Draw(t, "rank")), Source: memory.Source{Plugin: "test"}}
	a.Act = rapid.SampledFrom([]memory.Act{memory.ActPropose, memory.ActPropose, memory.ActPropose, memory.ActReinforce, memory.ActCorrect, memory.ActClose,
		memory.ActPin, memory.ActUnpin, memory.ActArchive, memory.ActRestore, memory.ActTag, memory.ActUntag, memory.ActErase}).Draw(t, "act")
	tag := rapid.SampledFrom([]string{"red", "blue"}).Draw(t, "tag")
	evidence := []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(minute)}, At: at, Excerpt: tag}}
	switch a.Act {
	case memory.ActPropose:
		town := rapid.SampledFrom([]string{"Suzhou", "Shanghai", "Berlin"}).Draw(t, "town")
		a.Candidate = &memory.Candidate{Type: memory.Semantic, Text: "Mei lives in " + town + ".", Owner: memory.Owner{User: "Mei"},
			Slot: &memory.Slot{Subject: "user", Attribute: "home", Value: town}, Negates: rapid.IntRange(0, 5).Draw(t, "negates") == 0,
			Tags: []string{tag}, Evidence: evidence, Confidence: 0.9, Sensitivity: memory.Personal}
	case memory.ActReinforce:
		a.Evidence = evidence
	case memory.ActCorrect:
		text := fmt.Sprintf("corrected to %s in %d", tag, minute)
		a.Patch = &memory.Patch{Text: &text}
	case memory.ActClose:
		a.Patch = &memory.Patch{Validity: &memory.Validity{To: at}}
	case memory.ActTag, memory.ActUntag:
		a.Tags = []string{tag}
	case memory.ActErase:
		a.Rank = memory.RankPerson
	}
	a.Seen = reconcile.Overrules(r.knows, &a)
	if r.id == hired { // makes assertions that it may make, and some that it may not
		r.work(t, &a)
	}
	r.knows, r.said = append(r.knows, a), append(r.said, a)
}

// work turns a generated assertion into a worker's: it has a worker's rank, cites a line that may
// or may not have come, and overrules nobody else.
func (r *replica) work(t *rapid.T, a *memory.Assertion) {
	a.Rank = memory.RankCloud
	cited := []memory.Evidence{{Utterance: memory.ID{0x50 + byte(rapid.IntRange(1, 4).Draw(t, "cites"))}, At: a.Clock.Time(), Excerpt: "red"}}
	switch a.Act {
	case memory.ActPropose:
		a.Candidate.Evidence = cited
		a.Candidate.Sensitivity = rapid.SampledFrom([]memory.Sensitivity{memory.Public, memory.Personal, memory.Secret}).Draw(t, "sensitivity")
	case memory.ActReinforce:
		a.Evidence = cited
	case memory.ActCorrect:
		if s := memory.Sensitivity(rapid.IntRange(0, 3).Draw(t, "private")); s > 0 {
			a.Patch = &memory.Patch{Sensitivity: &s}
		}
	case memory.ActArchive:
		a.Into = memory.ID{byte(rapid.IntRange(1, 4).Draw(t, "into"))}
		if a.Into == a.Memory {
			a.Into = memory.ID{}
		}
	case memory.ActErase:
		a.Rank = memory.RankPerson
	}
	a.Seen = slices.DeleteFunc(a.Seen, func(d memory.Dot) bool { return d.Member != r.id && rapid.IntRange(0, 9).Draw(t, "honest") > 0 })
}

// carried returns the assertions that arrive: in deltas of their author, encoded and decoded.
func carried(t *rapid.T, as []memory.Assertion) []memory.Assertion {
	var out []memory.Assertion
	for len(as) > 0 {
		n := rapid.IntRange(1, len(as)).Draw(t, "in one delta")
		h := envelope.Header{Version: envelope.Version, Space: as[0].Space, Member: as[0].Dot.Member, Seq: 1, Head: envelope.Hash{1}, Epoch: 1}
		ops := make([]delta.Op, n)
		for i := range ops {
			ops[i].Assertion = &as[i]
		}
		b, err := delta.Encode(h, ops)
		if err != nil {
			t.Fatal(err)
		}
		got, err := delta.Decode(&h, b)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range got {
			out = append(out, *op.Assertion)
		}
		as = as[n:]
	}
	return out
}

// Replicas work apart, exchange a part of their assertions or none, and one has
// a clock that is a day off. In whatever order, repetition and division the
// assertions then reach the others, all must derive the same memories.
func TestReplicasAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3).Draw(t, "replicas")
		rs := make([]*replica, n)
		for i := range rs {
			rs[i] = &replica{id: memory.MemberID{byte(i + 1)}}
		}
		rs[0].skew = rapid.SampledFrom([]time.Duration{0, 24 * time.Hour, -24 * time.Hour}).Draw(t, "skew")
		for minute := range rapid.IntRange(2, 24).Draw(t, "steps") {
			r := rs[rapid.IntRange(0, n-1).Draw(t, "who")]
			if from := rs[rapid.IntRange(0, n-1).Draw(t, "from")]; from != r && rapid.IntRange(0, 3).Draw(t, "hear") == 0 {
				r.knows = append(r.knows, carried(t, from.said)...)
			}
			r.say(t, minute)
		}
		var all []memory.Assertion
		for _, r := range rs {
			all = append(all, r.said...)
		}
		want := reconcile.Derive(all)
		for i, r := range rs {
			var got []memory.Assertion
			for j, from := range rs {
				if j != i {
					got = append(got, carried(t, from.said)...)
				}
			}
			// Its own and others' assertions, in any order, some of them twice; a part is derived
			// before the rest.
			mixed := append(slices.Clone(r.knows), append(got, r.said...)...)
			if len(mixed) == 0 {
				continue
			}
			mixed = rapid.Permutation(mixed).Draw(t, "order")
			part := mixed[:rapid.IntRange(0, len(mixed)).Draw(t, "part")]
			_ = reconcile.Derive(part)
			have := reconcile.Derive(mixed)
			if !reflect.DeepEqual(have, want) {
				t.Fatalf("replica %d:\n%+v\nwant\n%+v", i+1, have, want)
			}
		}
	})
}
