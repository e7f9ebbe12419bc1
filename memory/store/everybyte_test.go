package store

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var (
	everyByte = flag.Bool("every-byte", false, "TestSalvageNamesEveryByte changes every byte of every file, not some")
	byteSeed  = flag.Uint64("seed", 0, "which bytes TestSalvageNamesEveryByte changes, and to what; 0: others in each hour")
)

// TestSalvageNamesEveryByte changes one byte of one file at a time: a salvage restores only what
// was there, and reports whatever it does not restore. The test writes no files, so every byte can
// be tried.
func TestSalvageNamesEveryByte(t *testing.T) {
	t.Parallel()
	seed := *byteSeed
	if seed == 0 {
		seed = uint64(time.Now().Unix() / 3600)
	}
	crash, closed := t.TempDir(), t.TempDir()
	little(t, crash, closed)
	for n, name := range []string{"after a crash", "closed"} {
		dir := []string{crash, closed}[n]
		files, err := readImage(dir)
		if err != nil {
			t.Fatal(err)
		}
		before, lost, err := chosenFrom(dir)
		if err != nil || len(lost) > 0 {
			t.Fatal(lost, err)
		}
		for file, f := range files { // a log is mostly zeros, which would take most of the time
			files[file] = imageFile{f.bytes, min(f.size, int64(len(f.bytes)+1000))}
		}
		if err := files.write(dir); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		tried, less, silent := 0, 0, 0
		for _, file := range slices.Sorted(maps.Keys(files)) { // in order, so that a seed determines the bytes
			f := files[file]
			if strings.HasPrefix(file, spareName) || file == lockName || strings.HasSuffix(file, ".vlog") || strings.HasSuffix(file, "DISCARD") {
				continue
			}
			count := len(f.bytes)
			if !*everyByte {
				count = min(count, 100)
			}
			for n := range count {
				at, mask := n, byte(1)<<rng.IntN(8)
				if !*everyByte {
					at = rng.IntN(len(f.bytes))
				}
				p := bytes.Clone(f.bytes)
				p[at] ^= mask
				if err := (image{file: {p, f.size}}).write(dir); err != nil {
					t.Fatal(err)
				}
				tried++
				after, lost, err := chosenFrom(dir)
				if err != nil {
					t.Errorf("%s, %s: byte %d of %d with %#02x changed: %v", name, file, at, len(p), mask, err)
					continue
				}
				gone := 0
				for key, version := range before {
					if after[key] != version {
						gone++
					}
				}
				for key := range after {
					if _, ok := before[key]; !ok {
						t.Errorf("%s, %s: byte %d of %d with %#02x changed: %s is there, and was not", name, file, at, len(p), mask, text([]byte(key)))
					}
				}
				if gone > 0 {
					less++
				}
				if gone > 0 && len(lost) == 0 {
					silent++
					t.Errorf("%s, %s: byte %d of %d with %#02x changed: %d of %d records are gone, none is named", name, file, at, len(p), mask, gone, len(before))
				}
			}
			if err := (image{file: f}).write(dir); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: seed %d, %d bytes, %d cost a record, %d of these silently", name, seed, tried, less, silent)
		if less == 0 {
			t.Errorf("%s: no byte cost anything", name)
		}
	}
}

// chosenFrom returns the version of each record that a salvage would restore, except those that it
// makes again, and the records that it reports as lost.
func chosenFrom(dir string) (versions map[string]uint64, lost []Damage, err error) {
	s := newSalvage(testOptions(dir))
	defer s.secrets.zero()
	if err := s.look(context.Background()); err != nil {
		return nil, nil, err
	}
	versions = map[string]uint64{}
	for key, c := range s.choose() {
		if name, _ := describe([]byte(key)); !madeAnew[name] {
			versions[key] = c.version
		}
	}
	return versions, s.out.Lost, nil
}

// little makes two small stores with every kind of file: closed has one table with everything,
// crash has a table and a log, as a process leaves them that ends without closing. Something was
// erased in both.
func little(t *testing.T, crash, closed string) {
	t.Helper()
	s, err := Open(testOptions(closed))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		update(t, s, func(tx *Tx) error {
			_, err := tx.Assert(fact(n+1, me, uint64(n+1), "Fact."))
			u := memory.Utterance{ID: testID(500 + n), At: noon, Text: "Said.", Event: memory.EventID{Device: "pin", Seq: uint64(n + 1)}}
			return errors.Join(err, tx.PutUtterance(&u), tx.SetCursor("journal", uint64(n)))
		})
	}
	update(t, s, func(tx *Tx) error {
		return tx.Erase(Targets{Memories: []memory.ID{testID(2)}, Utterances: []memory.ID{testID(501)}})
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	live := t.TempDir()
	m, err := readImage(closed)
	if err = errors.Join(err, m.write(live)); err != nil {
		t.Fatal(err)
	}
	s = open(t, live)
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(fact(4, me, 4, "Fact."))
		return errors.Join(err, tx.Erase(Targets{Memories: []memory.ID{testID(1)}}))
	})
	update(t, s, func(tx *Tx) error { return tx.SetCursor("journal", 9) })
	m, err = readImage(live)
	if err = errors.Join(err, m.write(crash)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
