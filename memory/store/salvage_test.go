package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

// said returns everything that a store says, by its subject, without the numbers of documents and
// of the index, which a salvage makes again.
func said(tb testing.TB, s *Store) map[string]string {
	tb.Helper()
	all := map[string]string{}
	view(tb, s, func(tx *Tx) error {
		for k := range kinds {
			if k == kindHead || k == kindGuard || k == kindDocument || k == kindErased {
				continue
			}
			for e, err := range tx.scan(keyOf(k), nil, false) {
				if err != nil {
					return err
				}
				what := string(e.plain)
				switch k {
				case kindMemory:
					r, err := decode[memoryRecord](e.key, e.plain)
					if err != nil {
						return err
					}
					what = r.Group + string(r.Memory)
				case kindUtterance:
					r, err := decode[utteranceRecord](e.key, e.plain)
					if err != nil {
						return err
					}
					what = string(r.Utterance)
				}
				all[text(e.key)] = what
			}
		}
		return nil
	})
	return all
}

// rich makes a store in dir with a record of each kind that is restored.
func rich(tb testing.TB, dir string) {
	tb.Helper()
	s, err := Open(testOptions(dir))
	if err != nil {
		tb.Fatal(err)
	}
	blob, err := s.WriteBlob(context.Background(), strings.NewReader(strings.Repeat("sound ", 30_000)))
	if err != nil {
		tb.Fatal(err)
	}
	for n := range 4 {
		update(tb, s, func(tx *Tx) error {
			var errs []error
			for i := range 6 {
				seq := uint64(6*n + i + 1)
				_, err := tx.Assert(fact(int(seq), me, seq, strings.Repeat("words ", 40)+fmt.Sprint(seq)))
				u := memory.Utterance{ID: testID(500 + int(seq)), At: noon, Text: fmt.Sprint("said ", seq), Event: memory.EventID{Device: "pin", Seq: seq}}
				errs = append(errs, err, tx.PutUtterance(&u), tx.Refuse(memory.Refusal{Event: u.Event, Kind: "filler", Reason: "hm", At: noon}),
					tx.PutTask(Task{Utterance: u.ID, At: noon, Session: "s"}))
			}
			errs = append(errs, tx.SetCursor("journal", uint64(n)), tx.PutMeta(fmt.Sprint("meta ", n), n),
				tx.Quarantine(Quarantined{At: noon, Topic: "x", Reason: "y", Data: []byte("z")}))
			return errors.Join(errs...)
		})
	}
	update(tb, s, func(tx *Tx) error {
		_, err := tx.Assert(home(300, me, 900, "Ghent"), home(301, me, 901, "Antwerp"))
		return errors.Join(err, tx.PutDevice(Device{Name: "pin"}), tx.KeepBlob(blob, testID(1)), tx.PutSegment("words/1", 3, []byte("a segment")))
	})
	update(tb, s, func(tx *Tx) error {
		return errors.Join(tx.Erase(Targets{Memories: []memory.ID{testID(2)}, Utterances: []memory.ID{testID(502)}}), tx.DropQuarantined(2))
	})
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

func salvaged(tb testing.TB, dir string) (Salvaged, *Store) {
	tb.Helper()
	into := filepath.Join(tb.TempDir(), "new")
	r, err := Salvage(context.Background(), testOptions(dir), into)
	if err != nil {
		tb.Fatal(err)
	}
	s := open(tb, into)
	sound(tb, s)
	return r, s
}

func TestSalvageOfASoundStoreChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	rich(t, dir)
	s := open(t, dir)
	before := said(t, s)
	head := s.state.head.Seq
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, s := salvaged(t, dir)
	if len(r.Files)+len(r.Lost)+len(r.Orphans)+len(r.Blobs) > 0 {
		t.Errorf("%+v", r)
	}
	after := said(t, s)
	for what, value := range before {
		if after[what] != value {
			t.Errorf("%s was\n%q, is\n%q", what, value, after[what])
		}
	}
	for what := range after {
		if _, ok := before[what]; !ok {
			t.Errorf("%s was not there", what)
		}
	}
	if q := s.state.head.Seq; q.Quarantined != head.Quarantined || q.Change != head.Change || q.Outbox != head.Outbox {
		t.Errorf("counters %+v, were %+v", q, head)
	}
	pending := 0
	view(t, s, func(tx *Tx) error {
		for d, err := range tx.IndexPending(head.Document) {
			if err != nil {
				return err
			}
			if !d.Gone {
				pending++
			}
		}
		b, err := tx.OpenBlob(blobOf(t, tx))
		return errors.Join(err, b.Close())
	})
	if want := 23 + 2 + 23; pending != want {
		t.Errorf("%d documents, want %d", pending, want)
	}
	// The store continues as before: what was erased does not come back.
	update(t, s, func(tx *Tx) error {
		_, err := tx.AssertRemote(fact(2, me, 2, "again"))
		return err
	})
	view(t, s, func(tx *Tx) error {
		if m, err := tx.Memory(testID(2)); err != nil || m.State != memory.Erased {
			t.Error(m, err)
		}
		return nil
	})
}

func blobOf(tb testing.TB, tx *Tx) (id memory.ID) {
	for e, err := range tx.scan(keyOf(kindBlob), nil, false) {
		if err != nil {
			tb.Fatal(err)
		}
		id = memory.ID(e.key[1:])
	}
	return id
}

// TestSalvageOfFlippedFiles: whatever byte is changed, a salvage restores only what was there, and
// names what it does not restore.
func TestSalvageOfFlippedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	crashed(t, dir)
	files, err := readImage(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(t.TempDir(), "whole"))
	if err := files.write(s.opt.Dir + "2"); err != nil {
		t.Fatal(err)
	}
	whole := open(t, s.opt.Dir+"2")
	before := said(t, whole)
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	tried, lost := map[string]int{}, 0
	for name, f := range files {
		ext := filepath.Ext(name)
		count := map[string]int{".sst": 10, ".mem": 14, "": 5}[ext]
		if !strings.HasPrefix(name, recordsName) || count == 0 || len(f.bytes) == 0 {
			continue
		}
		for n := range count {
			work := t.TempDir()
			if err := files.write(work); err != nil {
				t.Fatal(err)
			}
			at := (n*len(f.bytes) + len(f.bytes)/2) / count
			p := bytes.Clone(f.bytes)
			p[at] ^= 1 << (n % 8)
			if err := (image{name: {p, f.size}}).write(work); err != nil {
				t.Fatal(err)
			}
			tried[ext]++
			r, s := salvaged(t, work)
			after := said(t, s)
			named := map[string]bool{}
			for _, d := range r.Lost {
				named[d.Kind+" "+d.Key], named[d.Kind] = true, true
			}
			for _, id := range r.Orphans {
				named["bare "+id.String()] = true
			}
			untold := named["bucket"] || named["head"] // it can't be known which records were lost
			saidLess := untold || named["assertion"]
			for what, value := range after {
				if strings.HasPrefix(what, "memory ") && saidLess {
					continue // it follows from fewer assertions
				}
				if was, ok := before[what]; !ok || was != value {
					t.Errorf("%s at %d: %s is %q, was %q", name, at, what, value, was)
				}
			}
			gone := 0
			for what := range before {
				if _, ok := after[what]; ok {
					continue
				}
				gone++
				kind, _, _ := strings.Cut(what, " ")
				switch {
				case named[what], kind == "group", kind == "outbox", kind == "dot", madeAnew[kind], untold:
				case kind == "memory" && strings.Contains(what, "by time"):
				default:
					t.Errorf("%s at %d: %s is gone and not named: %v", name, at, what, r.Lost)
				}
			}
			if gone > 0 && len(r.Lost) == 0 {
				t.Errorf("%s at %d: %d records gone, none named", name, at, gone)
			}
			if gone > 0 {
				lost++
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log(tried, lost, "lost something")
	if lost == 0 || tried[".sst"] == 0 || tried[".mem"] == 0 || tried[""] == 0 {
		t.Errorf("%v, %d lost something: the flips hit nothing", tried, lost)
	}
}

// TestSalvagedStoreAcceptsLostAssertions: lost assertions are taken when another member sends them again, and
// new ones get no number that was used before.
func TestSalvagedStoreAcceptsLostAssertions(t *testing.T) {
	a := home(1, me, 1, "Ghent")
	dir := tampered(t, func(sec *secrets, txn *badger.Txn, _ map[string][]byte) error {
		key := assertionKey(a.Memory, a.Dot)
		return errors.Join(txn.Delete(key), txn.Delete(sec.guardKey(key)))
	})
	_, s := salvaged(t, dir)
	update(t, s, func(tx *Tx) error {
		if _, err := tx.AssertRemote(a); err != nil {
			return err
		}
		if as, err := tx.Assertions(a.Memory); err != nil || len(as) != 1 {
			t.Errorf("%d assertions, %v", len(as), err)
		}
		if err := tx.SkipDots(me, 1000); err != nil {
			return err
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		if d, err := tx.NextDot(me); err != nil || d.Seq>>countBits == 0 { // in a new life
			t.Error(d, err)
		}
		return nil
	})
	sound(t, s)
}

func TestSalvageNamesWhatWasTampered(t *testing.T) {
	sec := newSecrets(testKey())
	ghent, antwerp, hello := memoryKey(testID(1)), memoryKey(testID(60)), utteranceKey(testID(5))
	for name, c := range map[string]struct {
		do   func(txn *badger.Txn, old map[string][]byte) error
		lost string // beginning of a line of Lost; empty: nothing is lost
	}{
		"two values swapped": {func(txn *badger.Txn, _ map[string][]byte) error {
			a, b := rawGet(t, txn, ghent), rawGet(t, txn, antwerp)
			return errors.Join(txn.Set(slices.Clone(ghent), b), txn.Set(slices.Clone(antwerp), a))
		}, ""}, // the right versions are in an older table
		"an older value put back": {func(txn *badger.Txn, old map[string][]byte) error {
			return txn.Set(ghent, old[string(ghent)])
		}, ""},
		"a value taken away": {func(txn *badger.Txn, _ map[string][]byte) error { return txn.Delete(hello) }, ""},
		"a value taken away with its guard": {func(txn *badger.Txn, _ map[string][]byte) error {
			return errors.Join(txn.Delete(hello), txn.Delete(sec.guardKey(hello)))
		}, "bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tampered(t, func(_ *secrets, txn *badger.Txn, old map[string][]byte) error { return c.do(txn, old) })
			r, s := salvaged(t, dir)
			if c.lost == "" && len(r.Lost) > 0 || c.lost != "" && (len(r.Lost) != 1 || !strings.HasPrefix(r.Lost[0].Kind+" "+r.Lost[0].Key, c.lost)) {
				t.Errorf("lost %v, want %q", r.Lost, c.lost)
			}
			view(t, s, func(tx *Tx) error {
				for _, id := range []memory.ID{testID(1), testID(60)} {
					if _, err := tx.Memory(id); err != nil {
						t.Error(err)
					}
				}
				if _, err := tx.Utterance(testID(5)); err != nil && c.lost == "" {
					t.Error(err)
				}
				return nil
			})
		})
	}
}

// TestCopyOfBadgersKeys: without Badger's keys nothing can be read, and one changed bit destroys them, so
// there is a copy.
func TestCopyOfBadgersKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	rich(t, dir)
	path := filepath.Join(dir, recordsName, badger.KeyRegistryFileName)
	p, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p[3] ^= 1 // of the IV
	if err := os.WriteFile(path, p, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(testOptions(dir)); !errors.Is(err, memory.ErrDamaged) || !strings.Contains(err.Error(), badger.KeyRegistryFileName) {
		t.Errorf("%v, want damage of the key file", err)
	}
	r, s := salvaged(t, dir)
	if len(r.Files) != 1 || len(r.Lost) > 0 {
		t.Errorf("%+v", r)
	}
	if n := len(said(t, s)); n < 100 {
		t.Errorf("%d records", n)
	}
	if err := os.Remove(filepath.Join(dir, spareName, badger.KeyRegistryFileName)); err != nil {
		t.Fatal(err)
	}
	if _, err = Salvage(context.Background(), testOptions(dir), filepath.Join(t.TempDir(), "none")); !errors.Is(err, memory.ErrDamaged) {
		t.Errorf("without the copy: %v", err)
	}
}

// TestSalvageKeepsMemoriesWithoutAssertions: if the assertions of a memory are lost, its derived record is kept.
func TestSalvageKeepsMemoriesWithoutAssertions(t *testing.T) {
	dir := tampered(t, func(sec *secrets, txn *badger.Txn, _ map[string][]byte) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		id := testID(1)
		var keys [][]byte
		for it.Seek(keyOf(kindAssertion, id[:])); it.ValidForPrefix(keyOf(kindAssertion, id[:])); it.Next() {
			keys = append(keys, it.Item().KeyCopy(nil))
		}
		for _, k := range keys {
			if err := errors.Join(txn.Delete(k), txn.Delete(sec.guardKey(k))); err != nil {
				return err
			}
		}
		return nil
	})
	r, s := salvaged(t, dir)
	if !slices.Equal(r.Orphans, []memory.ID{testID(1)}) {
		t.Fatal(r.Orphans)
	}
	view(t, s, func(tx *Tx) error {
		bare, err := tx.WithoutAssertions()
		if err != nil || len(bare) != 1 || bare[0].ID != testID(1) {
			t.Error(bare, err)
		}
		return nil
	})
}
