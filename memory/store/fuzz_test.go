package store

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// sealedPlain is the plaintext "plain", sealed with version 7 as the memory testID(1) under
// testKey. It is a constant because a fuzzing worker is a process of its own.
const sealedPlain = "0000000000000007018edabd9bb240350894c629de51e1288f1598c76dcfcf3a8dc7a993d6bdb132bababa534673e3865ea990a96541"

// FuzzRecord: any bytes under any key can be opened only if they were sealed there, and any key can
// be described.
func FuzzRecord(f *testing.F) {
	sec := newSecrets(testKey())
	key := memoryKey(testID(1))
	good, err := hex.DecodeString(sealedPlain)
	if err != nil {
		f.Fatal(err)
	}
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
		if bytes.Equal(k, key) && bytes.Equal(value, good) && err != nil || err != nil && !errors.Is(err, memory.ErrDamaged) {
			t.Fatal(err)
		}
	})
}
