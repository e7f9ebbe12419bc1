package ledger_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/remote"
)

// The same bytes under two memories of one member lie at the relay once, and go
// with the last of them, whoever erases it; another member's lie apart, so that
// each takes away its own alone.
func TestAlikeBlobs(t *testing.T) {
	a, b := pair(t)
	picture := bytes.Repeat([]byte("a picture of a plum "), 10_000)
	keep := func(m *member, n byte) memory.ID {
		t.Helper()
		kept, err := m.store.WriteBlob(t.Context(), bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		m.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{n}) })
		m.say(fact(n, "A plum, number "+string('0'+rune(n))+"."))
		m.sync()
		return kept.ID
	}
	at := func(name memory.ID) (d delta.Blob) {
		t.Helper()
		d, err := b.journal().RemoteBlob(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	has := func(d delta.Blob) bool {
		t.Helper()
		_, _, err := a.at.HasBlob(t.Context(), remote.BlobID(d.Sealed))
		if err != nil && !errors.Is(err, remote.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	erase := func(m *member, n byte) {
		t.Helper()
		m.erase(n)
		for range 2 {
			m.sync()
			a.sync()
			b.sync()
		}
	}
	one, two, theirs := keep(a, 1), keep(a, 2), keep(b, 3)
	a.sync()
	b.sync()
	first, second, third := at(one), at(two), at(theirs)
	if first.Sealed != second.Sealed || first.Sealed == third.Sealed || bytes.Equal(first.Key, third.Key) {
		t.Fatalf("%s, %s, and another member's %s", first.Sealed, second.Sealed, third.Sealed)
	}
	erase(a, 1)
	if !has(first) {
		t.Fatal("another memory has it, and it is gone")
	}
	if err := b.FetchBlob(t.Context(), two); err != nil {
		t.Error(err)
	}
	if err := b.FetchBlob(t.Context(), one); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("of what was erased: %v", err)
	}
	four := keep(a, 4)
	b.sync()
	if at(four).Sealed != first.Sealed {
		t.Error("it was sent again")
	}
	erase(b, 2)
	if !has(first) || !has(third) {
		t.Error("a third memory has it, and it is gone")
	}
	erase(b, 4)
	if has(first) || !has(third) {
		t.Errorf("the last is erased: there %v, another member's %v", has(first), has(third))
	}
	erase(b, 3)
	if has(third) {
		t.Error("another member's is there yet")
	}
}
