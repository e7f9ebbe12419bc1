package delta_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// sealedOps is a delta as a replica gets it, decrypted.
type sealedOps struct {
	header envelope.Header
	plain  []byte
}

// library is what a replica keeps of the deltas that it took, as a journal does: by name, so that
// nothing is there twice, and without what was erased.
type library struct {
	assertions map[memory.Dot]memory.Assertion
	utterances map[memory.ID]memory.Utterance
	blobs      map[string]delta.Blob
	erased     map[memory.ID]bool
	waits      []delta.Op // ops of workers that wait for what they need
}

func newLibrary() *library {
	return &library{assertions: map[memory.Dot]memory.Assertion{}, utterances: map[memory.ID]memory.Utterance{}, blobs: map[string]delta.Blob{}, erased: map[memory.ID]bool{}}
}

// take applies the ops of a delta; those of a worker only as far as it is allowed.
func (l *library) take(t *rapid.T, d sealedOps) {
	ops, err := delta.Decode(&d.header, d.plain)
	if err != nil {
		t.Fatal(err)
	}
	if d.header.Member != hired {
		l.apply(ops...)
	} else {
		l.waits = append(l.waits, ops...)
	}
	for took := true; took; {
		took = l.takeBack()
		for i, op := range l.waits {
			v, _ := delta.Accept(&op, hired, delta.Grant{Types: []memory.Type{memory.Semantic}}, l)
			if v == delta.Waiting || v == delta.Misquoted {
				continue
			}
			l.waits = slices.Delete(l.waits, i, i+1)
			if v == delta.Accepted {
				l.apply(op)
			}
			took = true
			break
		}
	}
}

// takeBack makes a worker's ops wait again that are no longer valid by what is known now.
func (l *library) takeBack() (any bool) {
	for dot, a := range l.assertions {
		if dot.Member != hired {
			continue
		}
		op := delta.Op{Assertion: &a}
		if v, _ := delta.Accept(&op, hired, delta.Grant{Types: []memory.Type{memory.Semantic}}, l); v != delta.Accepted {
			delete(l.assertions, dot)
			l.waits, any = append(l.waits, op), true
		}
	}
	return any
}

// hear keeps, of two utterances with one id, the one that all replicas keep.
func (l *library) hear(u memory.Utterance) {
	was, there := l.utterances[u.ID]
	switch {
	case !there, was.Source.ByWorker() && !u.Source.ByWorker():
	case u.Source.ByWorker() && !was.Source.ByWorker():
		return
	case was.Redacted != u.Redacted:
		if was.Redacted > u.Redacted {
			return
		}
	case was.Text >= u.Text:
		return
	}
	l.utterances[u.ID] = u
}

// Proposed implements delta.Lookup.
func (l *library) Proposed(id memory.ID) (types []memory.Type, gone bool) {
	for _, a := range l.assertions {
		if a.Memory == id && a.Candidate != nil {
			types = append(types, a.Candidate.Type)
		}
	}
	return types, l.erased[id]
}

// Utterance implements delta.Lookup.
func (l *library) Utterance(id memory.ID) (*memory.Utterance, bool) {
	u, ok := l.utterances[id]
	return &u, ok
}

// Source, Made, Cited, CountChanges and Lines implement delta.Lookup. No history here has anything that
// they report.
func (l *library) Source(memory.EventID) bool                          { return false }
func (l *library) Cited(memory.MemberID, memory.Evidence, uint64) int  { return 0 }
func (l *library) CountChanges(memory.MemberID, memory.ID, uint64) int { return 0 }
func (l *library) Made(memory.EventID, time.Time) bool                 { return false }
func (l *library) Lines(memory.MemberID, *memory.Utterance) int        { return 0 }

func (l *library) apply(ops ...delta.Op) {
	for _, op := range ops {
		switch {
		case op.Assertion != nil && op.Assertion.Act == memory.ActErase:
			l.erase(op.Assertion.Memory)
		case op.Assertion != nil && !l.erased[op.Assertion.Memory]:
			l.assertions[op.Assertion.Dot] = *op.Assertion
		case op.Utterance != nil && !l.erased[op.Utterance.ID]:
			l.hear(*op.Utterance)
		case op.Blob != nil && !l.erased[op.Blob.Memory]:
			l.blobs[op.Blob.Name] = *op.Blob
		case op.Forget != nil:
			l.erase(append(op.Forget.Memories, op.Forget.Utterances...)...)
		}
	}
}

func (l *library) erase(ids ...memory.ID) {
	for _, id := range ids {
		l.erased[id] = true
		delete(l.utterances, id)
		maps.DeleteFunc(l.assertions, func(_ memory.Dot, a memory.Assertion) bool { return a.Memory == id })
		maps.DeleteFunc(l.blobs, func(_ string, b delta.Blob) bool { return b.Memory == id })
	}
}

// derived returns everything that follows: memories, conflicts, and the snapshot that a replica
// with this content would seal.
func (l *library) derived(t *rapid.T) string {
	as := slices.Collect(maps.Values(l.assertions))
	var items []delta.Item
	for i := range as {
		items = append(items, delta.Item{Member: as[i].Dot.Member, Op: delta.Op{Assertion: &as[i]}})
	}
	for _, u := range l.utterances {
		items = append(items, delta.Item{Op: delta.Op{Utterance: &u}})
	}
	for _, b := range l.blobs {
		items = append(items, delta.Item{Op: delta.Op{Blob: &b}})
	}
	slices.SortFunc(items, func(a, b delta.Item) int { return a.Compare(&b) })
	digest := delta.NewDigest(memory.SpaceID{1})
	for i := range items {
		if _, err := digest.Add(&items[i]); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, v := range []any{reconcile.Derive(as), reconcile.Conflicts(as), l.erased} {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	fmt.Fprintf(&b, "digest %s", digest.Sum())
	return b.String()
}

// hired is a member that is a worker.
var hired = memory.MemberID{7}

// history generates the deltas of a few members, who hear of each other in between.
func history(t *rapid.T) []sealedOps {
	rs := []*replica{{id: memory.MemberID{1}}, {id: memory.MemberID{2}}, {id: memory.MemberID{3}}, {id: hired}}
	rs[0].skew = rapid.SampledFrom([]time.Duration{0, 24 * time.Hour, -24 * time.Hour}).Draw(t, "skew")
	var out []sealedOps
	for i := range rapid.IntRange(1, 14).Draw(t, "deltas") {
		r := rs[rapid.IntRange(0, 3).Draw(t, "who")]
		if from := rs[rapid.IntRange(0, 3).Draw(t, "from")]; from != r && rapid.Bool().Draw(t, "hear") {
			r.knows = append(r.knows, from.said...)
		}
		var ops []delta.Op
		id := memory.ID{byte(rapid.IntRange(1, 4).Draw(t, "of"))}
		what := rapid.IntRange(0, 10).Draw(t, "what")
		if r.id == hired && what < 4 {
			what = 10
		}
		switch what {
		case 3: // workers cite these lines, which are never forgotten, but redacted, and said by several members in other words
			id[0] += 0x50
			u := memory.Utterance{ID: id, Space: memory.SpaceID{1}, At: epochStart, Text: rapid.SampledFrom([]string{"red and blue", "red", "blue", "[…] and blue"}).Draw(t, "text")}
			u.Redacted = rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "redacted")
			if rapid.Bool().Draw(t, "a worker's") {
				u.Source.Plugin = memory.WorkerPlugin + "transcribe"
			}
			ops = append(ops, delta.Op{Utterance: &u})
		case 0:
			ops = append(ops, delta.Op{Utterance: &memory.Utterance{ID: memory.ID{0x40 + id[0]}, Space: memory.SpaceID{1}, At: epochStart, Text: "I moved."}})
		case 1:
			ops = append(ops, delta.Op{Forget: &delta.Forget{Memories: []memory.ID{id}, Utterances: []memory.ID{{0x40 + id[0]}}}})
		case 2:
			ops = append(ops, delta.Op{Blob: &delta.Blob{Name: fmt.Sprint("photo ", id[0]), Sealed: envelope.Hash{id[0]}, Size: 9, Key: make([]byte, 32), Memory: id}})
		default:
			for range rapid.IntRange(1, 3).Draw(t, "said") {
				r.say(t, i)
				ops = append(ops, delta.Op{Assertion: &r.said[len(r.said)-1]})
			}
		}
		h := envelope.Header{Version: envelope.Version, Space: memory.SpaceID{1}, Member: r.id, Seq: 1, Head: envelope.Hash{1}, Epoch: 1}
		plain, err := delta.Encode(h, ops)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, sealedOps{h, plain})
	}
	return out
}

// Deltas merge by the same laws as their content. In any order, with any
// repetitions, and in any division, a replica must get the same state, derive
// the same memories, and seal the same snapshot. The long form is in
// docs/proof.md.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := history(t)
		every := make([]int, len(all))
		for i := range every {
			every[i] = i
		}
		part := func(name string) []int {
			mixed := rapid.Permutation(every).Draw(t, name)
			return mixed[:rapid.IntRange(0, len(mixed)).Draw(t, "of "+name)]
		}
		// join returns how a replica with a takes what comes from one with b.
		join := func(a, b []int) []int {
			return slices.Concat(a, slices.DeleteFunc(slices.Clone(b), func(i int) bool { return slices.Contains(a, i) }))
		}
		take := func(l *library, parts ...[]int) *library {
			for _, i := range slices.Concat(parts...) {
				l.take(t, all[i])
			}
			return l
		}
		same := func(law string, x, y *library) {
			t.Helper()
			if dx, dy := x.derived(t), y.derived(t); dx != dy {
				t.Fatalf("not %s:\n%s\n%s", law, dx, dy)
			}
		}
		of := func(parts ...[]int) *library { return take(newLibrary(), parts...) }
		a, b, c := part("a"), part("b"), part("c")
		same("commutative", of(join(a, b)), of(join(b, a)))
		same("associative", of(join(join(c, a), b)), of(join(c, join(b, a))))
		same("idempotent", of(a, a), of(a))
		later := of(a)
		later.derived(t)
		same("a function of the set", take(later, rapid.Permutation(every).Draw(t, "rest")), of(every))
	})
}
