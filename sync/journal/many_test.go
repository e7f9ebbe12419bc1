package journal_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// chainOf returns the name of the nth of very many chains.
func chainOf(n int) string {
	return fmt.Sprintf("%s/%016x", memory.MemberID{255, byte(n >> 8)}, 1<<63+uint64(n))
}

func linkOf(n int) envelope.Link {
	return envelope.Link{Seq: 1<<40 + uint64(n), Hash: envelope.Hash{255, byte(n)}}
}

// chainsAre compares a state's chains with the wanted ones.
func chainsAre(t *testing.T, what string, got replica.Chains, want map[string]envelope.Link) {
	t.Helper()
	if have := maps.Collect(got.All()); got.Len() != len(want) || !maps.Equal(have, want) {
		t.Errorf("%s: %d chains, want %d", what, len(have), len(want))
	}
}

// A state with more chains than one record could hold, with a waiting delta and
// the parts of the largest snapshot, can be stored, and its member continues.
func TestStateOfVeryManyChains(t *testing.T) {
	a, b := pair(t)
	a.sync()
	l := a.journal()
	s, err := l.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]envelope.Link{}
	for n := range 10_000 {
		want[chainOf(n)] = linkOf(n)
		s.Chains.Put(chainOf(n), linkOf(n))
		s.Read.Put(chainOf(n), linkOf(n))
		if n%1000 < 999 {
			continue
		}
		if err := l.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if s, err = l.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s, err = a.journal().State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chainsAre(t, "taken", s.Chains, want)
	chainsAre(t, "read", s.Read, want)
	full := s
	full.Pending = &replica.Pending{Delta: make([]byte, 161<<10), Entries: replica.Entries{Of: make([]uint64, 400)}}
	full.Parts = make([]envelope.Hash, delta.MaxChunks)
	if err := l.Save(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	if full, err = a.journal().State(t.Context()); err != nil || len(full.Parts) != delta.MaxChunks || full.Pending == nil {
		t.Fatal(len(full.Parts), err)
	}
	if err := l.Save(t.Context(), s); err != nil {
		t.Fatal(err)
	}

	a.close()
	a.open()
	b.say(fact(1, "By the other."))
	b.sync()
	a.say(fact(2, "By this one."))
	a.sync()
	b.sync()
	a.sync() // this takes what it has sent
	if a.memory(memory.ID{1}) == nil || b.memory(memory.ID{2}) == nil {
		t.Error("one of the members lacks the memory of the other")
	}
	s, err = a.journal().State(t.Context())
	if err != nil || s.Chains.Len() != len(want)+2 {
		t.Errorf("%d chains, %v", s.Chains.Len(), err)
	}
}

// After a failed transaction, and after writes of others meanwhile, every chain
// is still in its place.
func TestChainsAfterAFailedTransaction(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	want, refused := map[string]envelope.Link{}, errors.New("no room")
	var fails bool
	l := a.journal()
	l.Write = func(ctx context.Context, fn func(*store.Tx) error) error {
		return a.store.Update(ctx, func(tx *store.Tx) error {
			if err := fn(tx); err != nil || !fails {
				return err
			}
			return refused
		})
	}
	put := func(l *journal.Journal, ns ...int) {
		t.Helper()
		var s replica.State
		for _, n := range ns {
			link := linkOf(len(want) + n)
			s.Chains.Put(chainOf(n), link)
			if !fails {
				want[chainOf(n)] = link
			}
		}
		in := replica.Incoming{Header: &envelope.Header{}}
		if err := l.Apply(t.Context(), in, s); fails && !errors.Is(err, refused) || !fails && err != nil {
			t.Fatal(err)
		}
		got, err := a.journal().State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		chainsAre(t, fmt.Sprint(ns), got.Chains, want)
	}
	some := func(from, to int) (ns []int) {
		for n := from; n < to; n++ {
			ns = append(ns, n)
		}
		return ns
	}
	put(l, some(0, 31)...)
	for _, to := range []int{100, 32, 33, 64} { // beyond the existing pages, and into the last one
		fails = true
		put(l, some(31, to)...)
		fails = false
		put(l, 5, 100+to)
	}
	put(l, some(200, 300)...)
	put(a.journal(), some(300, 333)...) // another journal over the same store
	put(l, some(400, 433)...)
	put(l, 7, 310)
	other := a.journal() // this starts again, with as many chains as there were
	a.update(other.Restart)
	n := len(want)
	clear(want)
	put(other, some(1000, 1000+n)...)
	put(l, 7, 310)
	a.update(l.Restart)
	clear(want)
	put(l, 7, 8)
	put(l, some(0, 40)...)
}

// Parts of a snapshot at the relay are still known after everything was read
// again.
func TestSnapshotPartsSurviveRereading(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	parts := []envelope.Hash{{7}, {8}}
	if err := a.journal().Save(t.Context(), replica.State{Cursor: 9, Parts: parts, MissingBodies: map[string][]uint64{chainOf(1): {1}}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		a.update(a.journal().Restart)
		s, err := a.journal().State(t.Context())
		if err != nil || !slices.Equal(s.Parts, parts) || s.Cursor != 0 || len(s.MissingBodies) != 0 {
			t.Errorf("%+v, %v", s, err)
		}
	}
}
