package journal_test

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// packs packs what a member has into a snapshot's chunks, unpacks them and
// returns the items.
func (m *member) packs() (items []delta.Item, err error) {
	m.t.Helper()
	source := delta.Source{Space: m.ring.Space(), Author: m.ring.Member(), Cursor: 1}
	p, n := delta.NewPacker(source), 0
	take := func(chunk []byte, err error) error {
		if err != nil || chunk == nil {
			return err
		}
		n++
		some, err := delta.Unpack(source, n, chunk)
		items = append(items, some...)
		return err
	}
	if err = m.journal().EachLive(m.t.Context(), func(i *delta.Item) error { return take(p.Put(i)) }); err == nil {
		err = take(p.Flush())
	}
	return items, err
}

// If a snapshot brings other numbers of a worker's citations than this device
// knows, the device keeps no more of them than one snapshot may have. Otherwise
// it could not make a snapshot any more.
func TestCitationsOfASnapshotAreBounded(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	cited := func(from uint64) delta.Item {
		c := &delta.Cited{Member: memory.MemberID{7}, Evidence: nthID(1).String()}
		for i := range uint64(200) {
			c.Seqs = append(c.Seqs, from+i)
		}
		return delta.Item{Cited: c}
	}
	for _, from := range []uint64{1000, 1} {
		if err := a.journal().Restore(t.Context(), []delta.Item{cited(from)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	items, err := a.packs()
	if err != nil || len(items) != 1 || len(items[0].Cited.Seqs) != 256 || items[0].Cited.Seqs[0] != 1 {
		t.Errorf("%+v, %v", items, err)
	}
}

// A space may have had more members than one item can hold dots of.
func TestDotsOfManyMembers(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	const n = 1000
	for at := 0; at < n; at += 100 {
		a.update(func(tx *store.Tx) error {
			for i := at; i < at+100; i++ {
				if err := tx.MarkDotUsed(memory.Dot{Member: memory.MemberID{byte(i >> 8), byte(i), 1}, Seq: uint64(i + 1)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	items, err := a.packs()
	if err != nil {
		t.Fatal(err)
	}
	b := newMember(t, serveRelay(t), nil)
	if err := b.journal().Restore(t.Context(), items, nil); err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error {
		dots, err := tx.LastDots()
		if len(dots) != n {
			t.Errorf("%d dots, want %d", len(dots), n)
		}
		return err
	})
}
