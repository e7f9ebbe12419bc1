package store

import (
	"bytes"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// FuzzRecord: whatever lies under whatever key, it opens only if it is what was
// sealed there; and any key can be named.
func FuzzRecord(f *testing.F) {
	sec := newSecrets(testKey())
	key := memoryKey(testID(1))
	good := sec.seal(key, 7, []byte("plain"))
	f.Add(key, good)
	f.Add([]byte{}, []byte{})
	f.Add([]byte("?"), good)
	for k := range kinds {
		f.Add(keyOf(k), good[:len(good)-1])
		f.Add(keyOf(k, bytes.Repeat([]byte{0xff}, maxKey)), good[:versionSize])
	}
	f.Fuzz(func(t *testing.T, k, value []byte) {
		describe(k)
		version, plain, err := sec.open(k, value)
		if err == nil && (!bytes.Equal(k, key) || !bytes.Equal(value, good) || version != 7 || string(plain) != "plain") {
			t.Fatalf("%x under %x opens as %q", value, k, plain)
		}
		if err != nil && !errors.Is(err, memory.ErrDamaged) {
			t.Fatal(err)
		}
	})
}
