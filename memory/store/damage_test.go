package store

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

// Each damaged record of bucket digests is named, by the check of an open store and by the error
// with which a closed one refuses to open.
func TestEachDamagedTurnIsNamed(t *testing.T) {
	t.Parallel()
	spoil := func(txn *badger.Txn) (names []string, err error) {
		for _, key := range keysUnder(txn, kindHead) {
			if len(key) == 3 {
				v := slices.Clone(rawGet(t, txn, key))
				v[len(v)-1] ^= 1
				names, err = append(names, text(key)), errors.Join(err, txn.Set(key, v))
			}
		}
		return names, err
	}
	names := func(all []Damage) (out []string) {
		for _, d := range all {
			if strings.HasPrefix(d.Kind, "buckets of turn") {
				out = append(out, d.Kind+" "+d.Key)
			}
		}
		return out
	}
	var want []string
	dir := tampered(t, func(_ *secrets, txn *badger.Txn, _ map[string][]byte) (err error) { want, err = spoil(txn); return err })
	if len(want) < 2 {
		t.Fatal(want)
	}
	_, err := Open(testOptions(dir))
	if got, rest := Damages(err); !slices.Equal(names(got), want) || rest != nil || !errors.Is(err, memory.ErrDamaged) {
		t.Errorf("a closed store: %v, %v, want %v", got, rest, want)
	}
	s := open(t, tampered(t, func(*secrets, *badger.Txn, map[string][]byte) error { return nil }))
	if err := s.db.Update(func(txn *badger.Txn) (err error) { want, err = spoil(txn); return err }); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Verify(t.Context()); !slices.Equal(names(got), want) || err != nil {
		t.Errorf("an open store: %v, %v, want %v", got, err, want)
	}
}

// Errors that are not damage are returned, and not lost beside the damage.
func TestDamagesKeepsOtherErrors(t *testing.T) {
	t.Parallel()
	other := errors.New("the disk is gone")
	got, rest := Damages(errors.Join(damaged(headKey, "is missing"), other, nil))
	if len(got) != 1 || !errors.Is(rest, other) || errors.Is(rest, memory.ErrDamaged) {
		t.Errorf("%v, %v", got, rest)
	}
	if got, rest := Damages(nil); got != nil || rest != nil {
		t.Errorf("%v, %v", got, rest)
	}
}

// A value that is sealed correctly but does not decompress was not altered, and is not reported as
// altered.
func TestValueThatDoesNotDecompress(t *testing.T) {
	t.Parallel()
	sec := newSecrets(testKey())
	key := utteranceKey(testID(5))
	value := u64(7 | pressed)
	value = sec.values.Seal(value, []byte("no frame of zstd"), boundTo(key, value))
	_, _, err := sec.open(key, value)
	if !errors.Is(err, memory.ErrDamaged) || !strings.Contains(err.Error(), "can't be decompressed") || strings.Contains(err.Error(), "altered") {
		t.Error(err)
	}
	if d, ok := errors.AsType[*Damage](err); !ok || d.Kind != "utterance" {
		t.Errorf("%T", err)
	}
	value[len(value)-1] ^= 1
	if _, _, err := sec.open(key, value); err == nil || !strings.Contains(err.Error(), "was altered") {
		t.Error(err)
	}
}
