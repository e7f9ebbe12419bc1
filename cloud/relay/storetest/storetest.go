package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

var now = time.Unix(1_790_000_000, 0)

// Run tests whether a store keeps its contract. open is called for each test
// and returns a new, empty store; the function that it returns opens the same
// store again after each Close.
func Run(t *testing.T, open func(t *testing.T) func() relay.Store) {
	run(t, open, map[string]func(*suite){
		"log": (*suite).log, "deltas": (*suite).deltas, "chains": (*suite).chains, "last of chains": (*suite).lasts, "many chains": (*suite).many, "concurrent": (*suite).concurrent,
		"quota": (*suite).quota, "forget": (*suite).forget, "blobs": (*suite).blobs, "deletion": (*suite).deletion,
		"invites": (*suite).invites, "mailboxes": (*suite).mailboxes, "once": (*suite).once, "records": (*suite).records,
	})
}

// RunBlobs is the part of [Run] about blobs, for a store that keeps blobs
// elsewhere.
func RunBlobs(t *testing.T, open func(t *testing.T) func() relay.Store) {
	run(t, open, map[string]func(*suite){"blobs": (*suite).blobs, "deletion": (*suite).deletion})
}

func run(t *testing.T, open func(t *testing.T) func() relay.Store, tests map[string]func(*suite)) {
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			again := open(t)
			s := &suite{T: t, ctx: context.Background(), reopenStore: again, Store: again()}
			defer func() { s.ok(s.Store.Close()) }()
			f(s)
		})
	}
}

type suite struct {
	*testing.T
	relay.Store
	ctx         context.Context
	reopenStore func() relay.Store
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) is(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("%v, want %v", err, want)
	}
}

func (s *suite) reopen() {
	s.Helper()
	s.ok(s.Store.Close())
	s.ok(s.Store.Close()) // Close may be called twice
	s.Store = s.reopenStore()
}

// settle returns a household whose log is stored.
func (s *suite) settle(name string) *Household {
	s.Helper()
	h := NewHousehold(s.T, name)
	for i, e := range h.Entries {
		var f *relay.Founding
		if i == 0 {
			f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		s.ok(s.AppendLog(s.ctx, e, f, relay.Quota{}))
	}
	return h
}

func (s *suite) account(h *Household) relay.Account {
	s.Helper()
	a, err := s.Account(s.ctx, relay.AccountID(h.Root.Public()))
	s.ok(err)
	return a
}

func (s *suite) append(h *Household, ds ...*envelope.Delta) ([]uint64, error) {
	return s.Append(s.ctx, h.Space, h.State.N(), ds, relay.Quota{}, now)
}

func (s *suite) log() {
	h := NewHousehold(s.T, "log")
	_, err := s.Space(s.ctx, h.Space)
	s.is(err, relay.ErrNotFound)
	s.is(s.AppendLog(s.ctx, h.Entries[1], nil, relay.Quota{}), relay.ErrNotFound)
	h = s.settle("log")
	s.is(s.AppendLog(s.ctx, h.Entries[2], nil, relay.Quota{}), relay.ErrConflict)
	s.is(s.AppendLog(s.ctx, h.Entries[0], &relay.Founding{Account: relay.AccountID(h.Root.Public())}, relay.Quota{}), relay.ErrConflict)
	s.reopen()
	head, err := s.Space(s.ctx, h.Space)
	s.ok(err)
	if want := (relay.Space{Account: relay.AccountID(h.Root.Public()), LogN: 3, LogHead: h.State.Head()}); head != want {
		s.Fatalf("%+v, want %+v", head, want)
	}
	for after := range uint64(4) {
		page, err := s.Log(s.ctx, h.Space, after, 2)
		s.ok(err)
		if len(page) != min(2, 3-int(after)) {
			s.Fatalf("after %d: %d entries", after, len(page))
		}
		for i, b := range page {
			if !bytes.Equal(b, h.Entries[int(after)+i].Bytes()) {
				s.Fatalf("after %d: entry %d differs", after, i)
			}
		}
	}
	// Of all that append at the same place, exactly one succeeds.
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		e := h.Sign(h.Owner, &envelope.Entry{Action: envelope.Add, Epoch: 1, Member: member(person(fmt.Sprint("guest ", i)), envelope.Reader),
			Wraps: wraps(person(fmt.Sprint("guest ", i)).ID)})
		wg.Go(func() { errs[i] = s.AppendLog(s.ctx, e, nil, relay.Quota{}) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			s.is(err, relay.ErrConflict)
		}
	}
	if won != 1 {
		s.Fatalf("%d won", won)
	}
}

func (s *suite) deltas() {
	h, other := s.settle("deltas"), s.settle("other")
	ds := []*envelope.Delta{h.Delta(h.Owner, "one"), h.Delta(h.Writer, "two"), h.Delta(h.Owner, "three")}
	cursors, err := s.append(h, ds...)
	s.ok(err)
	bare := h.Delta(h.Writer, "taken away").WithoutBody()
	more, err := s.append(h, bare)
	s.ok(err)
	if fmt.Sprint(cursors, more) != "[1 2 3] [4]" {
		s.Fatal(cursors, more)
	}
	theirs, err := s.append(other, other.Delta(other.Owner, "theirs"))
	s.ok(err)
	if theirs[0] != 1 {
		s.Fatal("cursors of two spaces are one")
	}
	s.reopen()
	again, err := s.append(h, ds[1], h.Delta(h.Writer, "five"), ds[0])
	s.ok(err)
	if fmt.Sprint(again) != "[2 5 1]" {
		s.Fatal("repeated: ", again)
	}
	page, err := s.After(s.ctx, h.Space, 1, 3, 1<<20)
	s.ok(err)
	for i, want := range []*envelope.Delta{ds[1], ds[2], bare} {
		if page[i].Cursor != uint64(i)+2 || !bytes.Equal(page[i].Delta, want.Bytes()) {
			s.Fatalf("delta %d differs", i)
		}
	}
	page, err = s.After(s.ctx, h.Space, 0, 3, 1)
	s.ok(err)
	if len(page) != 1 || page[0].Cursor != 1 {
		s.Fatal("small page: ", len(page))
	}
	if page, err = s.After(s.ctx, h.Space, 1<<64-1, 3, 1<<20); err != nil || len(page) != 0 {
		s.Fatal(page, err)
	}
	_, err = s.Append(s.ctx, h.Space, h.State.N()-1, []*envelope.Delta{h.Delta(h.Owner, "late")}, relay.Quota{}, now)
	s.is(err, relay.ErrConflict)
	_, err = s.Append(s.ctx, memory.SpaceID{1}, 0, ds, relay.Quota{}, now)
	s.is(err, relay.ErrNotFound)
}

func (s *suite) chains() {
	h := s.settle("chains")
	first, second, third := h.Delta(h.Owner, "1"), h.Delta(h.Owner, "2"), h.Delta(h.Owner, "3")
	_, err := s.append(h, second)
	s.is(err, envelope.ErrGap)
	_, err = s.append(h, first, third)
	s.is(err, envelope.ErrGap)
	if page, err := s.After(s.ctx, h.Space, 0, 9, 1<<20); err != nil || len(page) != 0 {
		s.Fatal("all or none: ", page, err)
	}
	_, err = s.append(h, first, second)
	s.ok(err)
	var fork *envelope.ForkError
	for name, head := range map[string]envelope.Header{
		"another second":      {Space: h.Space, Member: h.Owner.ID, Incarnation: 1, Seq: 2, Prev: first.Header.Hash(), Head: h.State.Head(), Epoch: 1},
		"third after another": {Space: h.Space, Member: h.Owner.ID, Incarnation: 1, Seq: 3, Prev: first.Header.Hash(), Head: h.State.Head(), Epoch: 1},
	} {
		if _, err := s.append(h, h.Seal(h.Owner, head, "else")); !errors.As(err, &fork) {
			s.Fatalf("%s: %v", name, err)
		}
	}
	// A restored device begins a new chain beside its old one.
	anew := h.Seal(h.Owner, envelope.Header{Space: h.Space, Member: h.Owner.ID, Incarnation: 1<<64 - 1, Seq: 1, Head: h.State.Head(), Epoch: 1}, "anew")
	cursors, err := s.append(h, anew, third)
	s.ok(err)
	if fmt.Sprint(cursors) != "[3 4]" {
		s.Fatal(cursors)
	}
}

// lasts tests that Chains returns the last position of each chain of one member
// only.
func (s *suite) lasts() {
	h, other := s.settle("removal"), s.settle("another")
	anew := h.Seal(h.Writer, envelope.Header{Space: h.Space, Member: h.Writer.ID, Incarnation: 1<<64 - 1, Seq: 1, Head: h.State.Head(), Epoch: 1}, "anew")
	_, err := s.append(h, h.Delta(h.Owner, "0"))
	s.ok(err)
	chains := func(h *Household) string {
		got, err := s.Chains(s.ctx, h.Space, h.Writer.ID)
		s.ok(err)
		slices.SortFunc(got, func(a, b envelope.Position) int { return cmp.Compare(a.Incarnation, b.Incarnation) })
		return fmt.Sprint(got)
	}
	if got := chains(h); got != "[]" {
		s.Fatal("before the first: ", got)
	}
	for _, d := range []*envelope.Delta{h.Delta(h.Writer, "1"), h.Delta(h.Writer, "2"), anew} {
		_, err := s.append(h, d)
		s.ok(err)
	}
	if got := chains(h); got != "[0000000000000001/2 ffffffffffffffff/1]" {
		s.Fatal(got)
	}
	if got := chains(other); got != "[]" {
		s.Fatal("of another space: ", got)
	}
}

// many tests that a member can't begin more chains than it may, while other
// members and existing chains are not affected.
func (s *suite) many() {
	h, other := s.settle("many chains"), s.settle("few chains")
	begins := func(h *Household, by *Person, incarnation uint64) *envelope.Delta {
		return h.Seal(by, envelope.Header{Space: h.Space, Member: by.ID, Incarnation: incarnation, Seq: 1, Head: h.State.Head(), Epoch: 1}, "anew")
	}
	take := func(h *Household, want error, ds ...*envelope.Delta) {
		s.Helper()
		_, err := s.Append(s.ctx, h.Space, h.State.N(), ds, relay.Quota{Chains: 3}, now)
		s.is(err, want)
	}
	first := h.Delta(h.Writer, "1") // in incarnation 1
	take(h, nil, first, h.Delta(h.Writer, "2"), begins(h, h.Writer, 1<<64-1))
	take(h, envelope.ErrChains, begins(h, h.Writer, 2), begins(h, h.Writer, 3))
	if page, err := s.After(s.ctx, h.Space, 0, 9, 1<<20); err != nil || len(page) != 3 {
		s.Fatal("all or none: ", len(page), err)
	}
	take(h, nil, begins(h, h.Writer, 1<<63))
	take(h, envelope.ErrChains, begins(h, h.Writer, 2))
	take(h, envelope.ErrChains, h.Delta(h.Owner, "1"), begins(h, h.Writer, 2))
	take(h, nil, first, h.Delta(h.Writer, "3"), begins(h, h.Writer, 1<<63)) // one delta is stored already, the other continues a chain
	take(h, nil, begins(h, h.Owner, 7))
	take(other, nil, begins(other, other.Writer, 2))
	_, err := s.append(h, begins(h, h.Writer, 2)) // no limit
	s.ok(err)
	take(h, envelope.ErrChains, begins(h, h.Writer, 3))
}

// concurrent tests that cursors have no gaps, and that a reader misses no
// delta, whatever the number of writers.
func (s *suite) concurrent() {
	h := s.settle("concurrent")
	const each = 25
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, p := range []*Person{h.Owner, h.Writer} {
		ds := make([]*envelope.Delta, each)
		for j := range ds {
			ds[j] = h.Delta(p, fmt.Sprint(i, j))
		}
		wg.Go(func() {
			for _, d := range ds {
				if _, err := s.append(h, d); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	var cursor uint64
	for cursor < 2*each {
		page, err := s.After(s.ctx, h.Space, cursor, 7, 1<<20)
		s.ok(err)
		for _, p := range page {
			if p.Cursor != cursor+1 {
				s.Fatalf("cursor %d after %d", p.Cursor, cursor)
			}
			cursor = p.Cursor
		}
		if err := errors.Join(errs...); err != nil && len(page) == 0 {
			break
		}
	}
	wg.Wait()
	s.ok(errors.Join(errs...))
}

func (s *suite) once() {
	id := [16]byte{1}
	for _, want := range []bool{true, false} {
		fresh, err := s.Once(s.ctx, id, now.Add(time.Minute))
		s.ok(err)
		if fresh != want {
			s.Fatal(fresh)
		}
		s.reopen()
	}
	s.ok(s.Sweep(s.ctx, now.Add(time.Minute)))
	fresh, err := s.Once(s.ctx, id, now.Add(time.Hour))
	s.ok(err)
	if !fresh {
		s.Fatal("remembered for too long")
	}
}
