package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

// raw opens the records without the store, as someone with the disk key could.
func raw(tb testing.TB, dir string, fn func(txn *badger.Txn) error) {
	tb.Helper()
	sec := newSecrets(testKey())
	db, err := openBadger(filepath.Join(dir, recordsName), sec.disk, false, true, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		tb.Fatal(err)
	}
}

func rawGet(tb testing.TB, txn *badger.Txn, key []byte) []byte {
	tb.Helper()
	item, err := txn.Get(key)
	if err != nil {
		tb.Fatal(err)
	}
	value, err := item.ValueCopy(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return value
}

// snapshot copies every value in the records.
func snapshot(tb testing.TB, dir string) map[string][]byte {
	all := map[string][]byte{}
	raw(tb, dir, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			all[string(it.Item().Key())] = v
		}
		return nil
	})
	return all
}

// original is a store with two homes and an utterance, which also has older values of the first
// home and of a deleted device. Several tests copy it.
var original struct {
	sync.Once
	dir string            // in scratch
	old map[string][]byte // the older values
}

func makeOriginal(tb testing.TB) {
	original.dir = filepath.Join(scratch, "original")
	session := func(fn func(tx *Tx) error) {
		s, err := Open(testOptions(original.dir))
		if err == nil {
			err = errors.Join(s.Update(context.Background(), fn), s.Close())
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	session(func(tx *Tx) error {
		_, err := tx.Assert(home(1, me, 1, "Ghent"))
		return errors.Join(err, tx.PutDevice(Device{Name: "pin"}), tx.SetCursor("journal", 1),
			tx.PutUtterance(&memory.Utterance{ID: testID(5), At: noon, Text: "hello there"}))
	})
	original.old = snapshot(tb, original.dir)
	session(func(tx *Tx) error {
		_, err := tx.Assert(home(60, me, 2, "Antwerp"))
		return errors.Join(err, tx.DeleteDevice("pin"), tx.SetCursor("journal", 2))
	})
}

// tampered copies the original, and lets fn change it. old has the older values.
func tampered(t *testing.T, fn func(sec *secrets, txn *badger.Txn, old map[string][]byte) error) string {
	original.Do(func() { makeOriginal(t) })
	dir := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(dir, os.DirFS(original.dir)); err != nil {
		t.Fatal(err)
	}
	sec := newSecrets(testKey())
	raw(t, dir, func(txn *badger.Txn) error { return fn(sec, txn, original.old) })
	return dir
}

func TestVerifyNamesWhatWasTampered(t *testing.T) {
	device := func(sec *secrets) []byte { return keyOf(kindDevice, sec.mac16("name", []byte("pin"))) }
	bucketOf := func(sec *secrets, key []byte) string {
		_, text := describe(bucketKey(int(sec.guardKey(key)[1])))
		return "bucket " + text + ": its digest does not fit its records"
	}
	sec := newSecrets(testKey())
	ghent, antwerp, hello := memoryKey(testID(1)), memoryKey(testID(60)), utteranceKey(testID(5))
	for name, c := range map[string]struct {
		do   func(sec *secrets, txn *badger.Txn, old map[string][]byte) error
		want []string
	}{
		"nothing": {func(*secrets, *badger.Txn, map[string][]byte) error { return nil }, nil},
		"two values swapped": {func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			a, b := rawGet(t, txn, ghent), rawGet(t, txn, antwerp)
			return errors.Join(txn.Set(slices.Clone(ghent), b), txn.Set(slices.Clone(antwerp), a))
		}, []string{
			"memory " + testID(1).String() + ": was altered, or stands in another's place",
			"memory " + testID(60).String() + ": was altered, or stands in another's place",
		}},
		"a version changed": {func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			v := rawGet(t, txn, ghent)
			v[7]++
			return txn.Set(ghent, v)
		}, []string{"memory " + testID(1).String() + ": was altered, or stands in another's place"}},
		"a value emptied": {func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			return txn.Set(hello, nil)
		}, []string{"utterance " + testID(5).String() + ": is cut short"}},
		"an older value put back": {func(_ *secrets, txn *badger.Txn, old map[string][]byte) error {
			return txn.Set(ghent, old[string(ghent)])
		}, []string{"memory " + testID(1).String() + ": was put back to an older version"}},
		"an older value put back with its guard": {func(sec *secrets, txn *badger.Txn, old map[string][]byte) error {
			gk := sec.guardKey(ghent)
			return errors.Join(txn.Set(ghent, old[string(ghent)]), txn.Set(gk, old[string(gk)]))
		}, []string{bucketOf(sec, ghent)}},
		"a value taken away": {func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			return txn.Delete(hello)
		}, []string{"utterance " + testID(5).String() + ": is missing"}},
		"a value taken away with its guard": {func(sec *secrets, txn *badger.Txn, _ map[string][]byte) error {
			return errors.Join(txn.Delete(hello), txn.Delete(sec.guardKey(hello)))
		}, []string{bucketOf(sec, hello)}},
		"a deleted value put back": {func(sec *secrets, txn *badger.Txn, old map[string][]byte) error {
			return txn.Set(device(sec), old[string(device(sec))])
		}, []string{"device " + strings.TrimPrefix(text(device(sec)), "device ") + ": was added: nothing vouches for it"}},
		"a deleted value put back with its guard": {func(sec *secrets, txn *badger.Txn, old map[string][]byte) error {
			gk := sec.guardKey(device(sec))
			return errors.Join(txn.Set(device(sec), old[string(device(sec))]), txn.Set(gk, old[string(gk)]))
		}, []string{bucketOf(sec, device(sec))}},
		"a strange key": {func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			return txn.Set([]byte("?"), []byte("a value of some length, though not a sealed one"))
		}, []string{"unknown 3f: was altered, or stands in another's place"}},
		"a guard altered": {func(sec *secrets, txn *badger.Txn, _ map[string][]byte) error {
			gk := sec.guardKey(ghent)
			v := rawGet(t, txn, gk)
			v[len(v)-1] ^= 1
			return txn.Set(gk, v)
		}, []string{"memory " + testID(1).String() + ": its guard was altered", text(sec.guardKey(ghent)) + ": was altered, or stands in another's place", bucketOf(sec, ghent)}},
		"all guards taken away": {func(_ *secrets, txn *badger.Txn, old map[string][]byte) error {
			for _, k := range []kind{kindGuard} {
				for _, key := range keysUnder(txn, k) {
					if err := txn.Delete(key); err != nil {
						return err
					}
				}
			}
			return nil
		}, []string{
			"memory " + testID(1).String() + ": was added: nothing vouches for it",
			"utterance " + testID(5).String() + ": was added: nothing vouches for it",
			bucketOf(sec, ghent), bucketOf(sec, hello),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, tampered(t, c.do))
			found, err := s.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range found {
				got = append(got, strings.TrimPrefix(d.Error(), "store: "))
			}
			if len(c.want) == 0 && len(got) > 0 {
				t.Errorf("found in a sound store: %q", got)
			}
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("not found: %q\namong: %q", w, got)
				}
			}
			// A rewrite makes the guards again, which it must not do for records that were tampered
			// with.
			onlyGuards := name == "a guard altered" || name == "all guards taken away" || name == "nothing"
			if err := s.Compact(t.Context()); errors.Is(err, memory.ErrDamaged) == onlyGuards {
				t.Errorf("compaction: %v", err)
			}
			if onlyGuards {
				sound(t, s)
			}
		})
	}
}

// Somebody who also has the keys can't replace a value, guard or place by another one: each is
// reported by name.
func TestVerifyNamesSwappedValues(t *testing.T) {
	ghent, antwerp := memoryKey(testID(1)), memoryKey(testID(60))
	for want, do := range map[string]func(sec *secrets, txn *badger.Txn, old map[string][]byte) error{
		"its guard was put back to an older version": func(sec *secrets, txn *badger.Txn, old map[string][]byte) error {
			gk := sec.guardKey(ghent)
			return txn.Set(gk, old[string(gk)])
		},
		"was replaced by another value of the same version": func(sec *secrets, txn *badger.Txn, _ map[string][]byte) error {
			version, plain, err := sec.open(ghent, rawGet(t, txn, ghent))
			return errors.Join(err, txn.Set(ghent, sec.seal(ghent, version, plain)))
		},
		"has the guard of another record": func(sec *secrets, txn *badger.Txn, _ map[string][]byte) error {
			gk := sec.guardKey(ghent)
			version, tag, _, err := sec.openGuard(gk, rawGet(t, txn, gk))
			return errors.Join(err, txn.Set(gk, sec.seal(gk, version, slices.Concat(tag, antwerp))))
		},
		"stands in another's place": func(sec *secrets, txn *badger.Txn, _ map[string][]byte) error {
			version, tag, of, err := sec.openGuard(sec.guardKey(ghent), rawGet(t, txn, sec.guardKey(ghent)))
			gk := sec.guardKey(antwerp)
			return errors.Join(err, txn.Set(gk, sec.seal(gk, version, slices.Concat(tag, of))))
		},
	} {
		found, err := open(t, tampered(t, do)).Verify(t.Context())
		if err != nil || !slices.ContainsFunc(found, func(d Damage) bool { return d.What == want }) {
			t.Errorf("%s: %+v, %v", want, found, err)
		}
	}
}

func text(key []byte) string {
	name, rest := describe(key)
	return name + " " + rest
}

func keysUnder(txn *badger.Txn, k kind) (keys [][]byte) {
	opt := badger.DefaultIteratorOptions
	opt.Prefix = []byte{byte(k)}
	it := txn.NewIterator(opt)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		keys = append(keys, it.Item().KeyCopy(nil))
	}
	return keys
}

// TestOpenDetectsTamperingWithTheHead: what Open finds by reading only the head.
func TestOpenDetectsTamperingWithTheHead(t *testing.T) {
	t.Parallel()
	putBack := func(of func(key []byte) bool) func(*secrets, *badger.Txn, map[string][]byte) error {
		return func(_ *secrets, txn *badger.Txn, old map[string][]byte) error {
			for key, v := range old {
				if of([]byte(key)) {
					if err := txn.Set([]byte(key), v); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	remove := func(ks ...kind) func(*secrets, *badger.Txn, map[string][]byte) error {
		return func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			for _, k := range ks {
				for _, key := range keysUnder(txn, k) {
					if err := txn.Delete(key); err != nil {
						return err
					}
				}
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		do   func(*secrets, *badger.Txn, map[string][]byte) error
		want error
	}{
		"buckets put back": {func(sec *secrets, txn *badger.Txn, old map[string][]byte) error {
			var gone error
			for _, key := range keysUnder(txn, kindHead) {
				if len(key) > 1 {
					gone = errors.Join(gone, txn.Delete(key))
				}
			}
			return errors.Join(gone, putBack(func(k []byte) bool { return kind(k[0]) == kindHead && len(k) > 1 })(sec, txn, old))
		}, memory.ErrDamaged},
		"buckets of a turn removed": {func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			keys := keysUnder(txn, kindHead)
			return txn.Delete(keys[len(keys)-1])
		}, memory.ErrDamaged},
		"head put back": {putBack(func(k []byte) bool { return kind(k[0]) == kindHead && len(k) == 1 }), memory.ErrDamaged},
		"head and buckets put back": {func(sec *secrets, txn *badger.Txn, old map[string][]byte) error {
			return errors.Join(remove(kindHead)(sec, txn, old),
				putBack(func(k []byte) bool { return kind(k[0]) == kindHead })(sec, txn, old))
		}, ErrRolledBack},
		"head removed":            {remove(kindHead), ErrRolledBack},
		"head and guards removed": {remove(kindHead, kindGuard), ErrRolledBack},
		"head altered": {func(_ *secrets, txn *badger.Txn, _ map[string][]byte) error {
			v := rawGet(t, txn, headKey)
			v[len(v)-1] ^= 1
			return txn.Set(headKey, v)
		}, memory.ErrDamaged},
	} {
		if _, err := Open(testOptions(tampered(t, c.do))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGetFindsEachFlippedBit flips every bit of a stored value.
func TestGetFindsEachFlippedBit(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	update(t, s, func(tx *Tx) error { return tx.PutDevice(Device{Name: "pin", Credentials: []byte("hash")}) })
	key := keyOf(kindDevice, s.secrets.mac16("name", []byte("pin")))
	var value []byte
	view(t, s, func(tx *Tx) (err error) { value, _, err = tx.raw(key); return err })
	set := func(v []byte) {
		if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(key, v) }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 8 * len(value) {
		v := slices.Clone(value)
		v[i/8] ^= 1 << (i % 8)
		set(v)
		view(t, s, func(tx *Tx) error {
			d, err := tx.Device("pin")
			if found := new(Damage); !errors.As(err, &found) || found.Kind != "device" || !errors.Is(err, memory.ErrDamaged) {
				t.Fatalf("bit %d: %+v, %v", i, d, err)
			}
			return nil
		})
	}
	set(value)
	sound(t, s)
}
