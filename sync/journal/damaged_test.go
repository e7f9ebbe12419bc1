package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// flipsBlob changes a byte of a blob's file, as a faulty disk may.
func (m *member) flipsBlob(name memory.ID) {
	m.t.Helper()
	path := filepath.Join(m.dir, "store", "blobs", name.String())
	b, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// A photo whose file is damaged is reported, and blocks neither assertions nor
// other photos.
func TestDamagedBlobIsNotSent(t *testing.T) {
	a, b := pair(t)
	var names []memory.ID
	for n := byte(1); n <= 2; n++ {
		kept, err := a.store.WriteBlob(t.Context(), bytes.NewReader(bytes.Repeat([]byte{n}, 7000)))
		if err != nil {
			t.Fatal(err)
		}
		a.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{n}) })
		a.say(fact(n, "A plum, number "+string('0'+rune(n))+"."))
		names = append(names, kept.ID)
	}
	a.flipsBlob(names[0])
	a.sync()
	b.sync()
	if b.memory(memory.ID{1}) == nil || b.memory(memory.ID{2}) == nil {
		t.Error("what was said did not go")
	}
	if err := b.FetchBlob(t.Context(), names[1]); err != nil {
		t.Errorf("the other photo: %v", err)
	}
	if ps := a.problems(); len(ps) != 1 || !strings.Contains(ps[0], names[0].String()) {
		t.Errorf("named: %q", ps)
	}
}

// If a blob at the relay is damaged here, its doubt ends when the relay was
// checked for it once more.
func TestDamagedBlobIsCheckedAgain(t *testing.T) {
	a, b := pair(t)
	x := &alike{t, a, b, bytes.Repeat([]byte("a plum "), 1000)}
	one := x.keep(a, 1)
	a.flipsBlob(one)
	if err := a.journal().RecordDoubt(t.Context(), x.at(one).Sealed); err != nil {
		t.Fatal(err)
	}
	a.sync()
	if doubts, err := a.journal().Doubts(t.Context()); err != nil || len(doubts) > 0 {
		t.Errorf("%v, %v", doubts, err)
	}
	b.sync()
	if err := b.FetchBlob(t.Context(), one); err != nil {
		t.Error(err)
	}
}
