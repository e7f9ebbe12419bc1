package storetest

import (
	"slices"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/envelope"
)

func (s *suite) records() {
	h, other := s.settle("records"), s.settle("other")
	ds := []*envelope.Delta{h.Delta(h.Owner, "one"), h.Delta(h.Writer, "two"), h.Delta(h.Owner, "three")}
	_, err := s.append(h, ds...)
	s.ok(err)
	place := func(d *envelope.Delta) envelope.Place {
		return envelope.Place{Member: d.Header.Member, Incarnation: d.Header.Incarnation, Seq: d.Header.Seq, Hash: d.Header.Hash()}
	}
	for cursor, want := range map[uint64][]*envelope.Delta{0: nil, 1: ds[:1], 2: ds[:2], 3: ds[1:], 99: ds[1:]} {
		var ps []envelope.Place
		for _, d := range want {
			ps = append(ps, place(d))
		}
		got, err := s.Places(s.ctx, h.Space, cursor)
		s.ok(err)
		if !slices.Equal(got, relay.SortPlaces(ps)) {
			s.Fatalf("at %d: %+v, want %+v", cursor, got, ps)
		}
	}
	refs := []relay.Ref{{Member: h.Owner.ID, Position: ds[2].Header.Position()}, {Member: h.Writer.ID, Position: ds[2].Header.Position()},
		{Member: h.Owner.ID, Position: ds[0].Header.Position()}, {Member: h.Owner.ID, Position: envelope.Position{Incarnation: 1<<64 - 1, Seq: 1}}}
	hashes, err := s.Hashes(s.ctx, h.Space, refs)
	s.ok(err)
	if want := []envelope.Hash{ds[2].Header.Hash(), {}, ds[0].Header.Hash(), {}}; !slices.Equal(hashes, want) {
		s.Fatalf("hashes %v, want %v", hashes, want)
	}
	if hashes, err = s.Hashes(s.ctx, other.Space, refs); err != nil || !slices.Equal(hashes, make([]envelope.Hash, 4)) {
		s.Fatal("of another space: ", hashes, err)
	}
	before := s.account(h)
	first, vote := relay.Record{ID: envelope.Hash{9}, About: envelope.Hash{9}, Bytes: []byte("a checkpoint")},
		relay.Record{ID: envelope.Hash{3}, About: envelope.Hash{9}, Bytes: []byte("a vote")}
	second := relay.Record{ID: envelope.Hash{1}, About: envelope.Hash{1}, Bytes: []byte("another")}
	for _, r := range []relay.Record{first, vote, first, second} {
		s.ok(s.PutRecord(s.ctx, h.Space, r, relay.Quota{}))
	}
	s.is(s.PutRecord(s.ctx, h.Space, relay.Record{ID: envelope.Hash{2}, About: envelope.Hash{2}, Bytes: []byte("too much")}, relay.Quota{Bytes: 1}), relay.ErrQuota)
	if got := s.account(h); got.Bytes != before.Bytes+12+6+7 {
		s.Fatalf("%d bytes after %d", got.Bytes, before.Bytes)
	}
	s.reopen()
	have := func(want ...relay.Record) {
		s.Helper()
		got, err := s.Records(s.ctx, h.Space)
		s.ok(err)
		if !slices.EqualFunc(got, want, func(a, b relay.Record) bool {
			return a.ID == b.ID && a.About == b.About && string(a.Bytes) == string(b.Bytes)
		}) {
			s.Fatalf("%+v, want %+v", got, want)
		}
		if n, err := s.CountRecords(s.ctx, h.Space); err != nil || n != len(want) {
			s.Fatalf("%d records, %v, want %d", n, err, len(want))
		}
	}
	have(first, vote, second)
	if got, err := s.Records(s.ctx, other.Space); err != nil || len(got) != 0 {
		s.Fatal("of another space: ", got, err)
	}
	if n, err := s.CountRecords(s.ctx, other.Space); err != nil || n != 0 {
		s.Fatal("of another space: ", n, err)
	}
	s.ok(s.DropRecords(s.ctx, h.Space, envelope.Hash{9}))
	have(second)
	s.ok(s.DropRecords(s.ctx, h.Space, envelope.Hash{9}))
	s.is(s.PutRecord(s.ctx, h.Space, vote, relay.Quota{}), relay.ErrNotFound) // a vote that comes after its checkpoint was deleted
	have(second)

	before = s.account(h)
	if n, err := s.Compact(s.ctx, h.Space, 2); err != nil || n != 2 {
		s.Fatal(n, err)
	}
	if n, err := s.Compact(s.ctx, h.Space, 2); err != nil || n != 0 {
		s.Fatal("twice: ", n, err)
	}
	if got := s.account(h); got.Bytes != before.Bytes-int64(len(ds[0].Body)+len(ds[1].Body)) {
		s.Fatalf("%d bytes of %d", got.Bytes, before.Bytes)
	}
	page, err := s.After(s.ctx, h.Space, 0, 9, 1<<20)
	s.ok(err)
	for i, want := range []*envelope.Delta{ds[0].WithoutBody(), ds[1].WithoutBody(), ds[2]} {
		if string(page[i].Delta) != string(want.Bytes()) {
			s.Fatalf("delta %d", i)
		}
	}
	s.ok(s.DeleteSpace(s.ctx, h.Space))
	if got := s.account(h); got.Bytes != 0 {
		s.Fatalf("%d bytes are left", got.Bytes)
	}
}
