package seal

import (
	"testing"

	"github.com/locket-dev/locket/internal/lockedmem"
)

// A held key is the same key, is in a slot until it ends, and leaves nothing there or in its old
// place.
func TestKeyInLockedMemory(t *testing.T) {
	before, _ := lockedmem.State()
	k := NewKey()
	want := k.Derive("a use")
	was := k.s.b
	if k.LockMemory() != k || !k.LockMemory().Derive("a use").Equal(want) {
		t.Error("the key in locked memory differs from the key before")
	}
	if n, _ := lockedmem.State(); n != before+1 {
		t.Errorf("%d secrets are in locked memory, want %d", n, before+1)
	}
	if *was != ([KeySize]byte{}) {
		t.Error("the secret is also where it was")
	}
	slot := k.s.b
	k.Zero()
	k.Zero()
	if n, _ := lockedmem.State(); n != before || *slot != ([KeySize]byte{}) {
		t.Errorf("after Zero, %d secrets are in locked memory, want %d", n, before)
	}
	if k.Equal(want) || want.Equal(k) {
		t.Error("a zeroed key equals another")
	}
}
