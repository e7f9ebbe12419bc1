package store

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

const sentinel = "xylophone"

// onDisk counts the occurrences of a word in everything in a store's folder, decrypted with its
// keys: every version of every record, including deleted ones, and blobs.
func onDisk(t *testing.T, dir, word string) (found int) {
	t.Helper()
	sec := newSecrets(testKey())
	db, err := openBadger(filepath.Join(dir, recordsName), sec.disk, false, true, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = db.View(func(txn *badger.Txn) error {
		opt := badger.DefaultIteratorOptions
		opt.AllVersions = true
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if it.Item().IsDeletedOrExpired() {
				continue // a mark without a value
			}
			key := it.Item().KeyCopy(nil)
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			_, plain, err := sec.open(key, value)
			if err != nil {
				return err
			}
			seen++
			if bytes.Contains(plain, []byte(word)) {
				found++
			}
			if kind(key[0]) == kindBlob {
				r, err := decode[blobRecord](key, plain)
				if err != nil {
					return err
				}
				s := &Store{opt: Options{Dir: dir}}
				b, err := s.openBlob(memory.ID(key[1:]), r)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					return err
				}
				content := make([]byte, r.Size)
				if _, err := b.ReadAt(content, 0); err != nil {
					return err
				}
				if bytes.Contains(content, []byte(word)) {
					found++
				}
				if err := b.Close(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatal("looked at nothing")
	}
	return found
}

// forgettable fills a store so that a word is in every place where it can be.
func forgettable(t *testing.T) (s *Store, targets Targets, blob memory.ID) {
	s = open(t, t.TempDir())
	event := memory.EventID{Device: "pin", Boot: 1, Seq: 60}
	b, err := s.WriteBlob(t.Context(), strings.NewReader("a scan of the "+sentinel+" invoice"))
	if err != nil {
		t.Fatal(err)
	}
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(home(1, me, 1, "Ghent"))
		return errors.Join(err, tx.KeepBlob(b, testID(60)))
	})
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(home(60, me, 2, sentinel+" street"), fact(7, me, 3, "It rains."))
		return errors.Join(err,
			tx.PutUtterance(&memory.Utterance{ID: testID(5), Event: event, At: noon, Text: "I live in " + sentinel + " street"}),
			tx.Refuse(memory.Refusal{Event: event, At: noon, Kind: "duplicate", Reason: sentinel + " again"}))
	})
	erase := act(60, me, 4, memory.ActErase)
	erase.Reason = "no more " + sentinel
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(erase); return err })
	return s, Targets{Memories: []memory.ID{testID(60)}, Utterances: []memory.ID{testID(5)}, Events: []memory.EventID{event}}, b.ID
}

func TestEraseLeavesNothing(t *testing.T) {
	s, targets, blob := forgettable(t)
	update(t, s, func(tx *Tx) error { return tx.Erase(targets) })
	view(t, s, func(tx *Tx) error {
		if m, err := tx.Memory(testID(60)); err != nil || m.State != memory.Erased || m.Text != "" {
			t.Errorf("the erased: %+v, %v", m, err)
		}
		if m, err := tx.Memory(testID(1)); err != nil || m.State != memory.Active || !m.Into.IsZero() {
			t.Errorf("what it had replaced: %+v, %v", m, err)
		}
		if h, err := tx.History(testID(60)); err != nil || len(h) != 0 {
			t.Errorf("its history: %+v, %v", h, err)
		}
		for _, c := range collect(t, tx.Changes(0)) {
			if strings.Contains(c.Old+c.New+c.Reason, sentinel) || c.Other == testID(60) || c.Memory == testID(60) {
				t.Errorf("a change: %+v", c)
			}
		}
		out := collect(t, tx.Outbox(0))
		if last := len(out) - 1; last >= 0 && out[last].Forget != nil && slices.Equal(out[last].Forget.Memories, targets.Memories) {
			out = out[:last]
		} else {
			t.Errorf("the last in the outbox is not the erasure: %+v", out)
		}
		if len(out) != 3 || out[2].Assertion.Act != memory.ActErase || out[2].Assertion.Reason != "" {
			t.Errorf("outbox: %+v", out)
		}
		if _, err := tx.Utterance(testID(5)); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("utterance: %v", err)
		}
		if r, err := tx.RefusalsOf(targets.Events[0]); err != nil || len(r) != 0 {
			t.Errorf("refusals: %+v, %v", r, err)
		}
		if _, err := tx.OpenBlob(blob); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("blob: %v", err)
		}
		gone := map[memory.ID]int{}
		for _, d := range collect(t, tx.IndexPending(0)) {
			if d.Gone {
				gone[d.ID]++
			} else if gone[d.ID] > 0 || d.ID == testID(60) || d.ID == testID(5) {
				t.Errorf("to be indexed: %+v", d)
			}
		}
		if gone[testID(60)] != 1 || gone[testID(5)] != 1 {
			t.Errorf("to be taken out of the index: %v", gone)
		}
		return nil
	})
	// Neither comes back, whichever way it is sent.
	update(t, s, func(tx *Tx) error {
		if d, err := tx.NextDot(me); err != nil || d.Seq>>countBits == 0 {
			t.Errorf("next dot: %v, %v", d, err)
		}
		_, err := tx.Assert(home(60, me, 2, sentinel+" street"), home(60, you, 1, sentinel+" street"))
		return errors.Join(err, tx.PutUtterance(&memory.Utterance{ID: testID(5), At: noon, Text: sentinel}))
	})
	view(t, s, func(tx *Tx) error {
		if m, err := tx.Memory(testID(60)); err != nil || m.State != memory.Erased {
			t.Errorf("said again: %+v, %v", m, err)
		}
		if as, err := tx.Assertions(testID(60)); err != nil || len(as) != 1 || as[0].Act != memory.ActErase {
			t.Errorf("assertions of the erased: %+v, %v", as, err)
		}
		if u, err := tx.Utterance(testID(5)); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("utterance said again: %+v, %v", u, err)
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.Erase(targets) })
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := onDisk(t, s.opt.Dir, sentinel); n != 0 {
		t.Errorf("%d values with the word after erasure and compaction", n)
	}
	if files, err := os.ReadDir(filepath.Join(s.opt.Dir, blobsName)); err != nil || len(files) != 0 {
		t.Errorf("blob files: %v, %v", files, err)
	}
	sound(t, open(t, s.opt.Dir))
}

// TestDiskSearchFindsAWord shows that onDisk can find a word.
func TestDiskSearchFindsAWord(t *testing.T) {
	s, targets, _ := forgettable(t)
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := onDisk(t, s.opt.Dir, sentinel); n < 5 {
		t.Errorf("%d values with the word in a store that was not told to forget", n)
	}
	s = open(t, s.opt.Dir)
	update(t, s, func(tx *Tx) error { return tx.Erase(targets) })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := onDisk(t, s.opt.Dir, sentinel); n == 0 {
		t.Error("nothing left without compaction: the test above shows nothing of it")
	}
}

// TestRewriteInterrupted leaves the folder as a crash at each point of a swap would.
func TestRewriteInterrupted(t *testing.T) {
	for name, leave := range map[string]func(dir string) error{
		"while copying": func(dir string) error { return os.Mkdir(filepath.Join(dir, buildingName), 0o700) },
		"copy whole, old in place": func(dir string) error {
			return os.CopyFS(filepath.Join(dir, newName), os.DirFS(filepath.Join(dir, recordsName)))
		},
		"old moved away": func(dir string) error {
			return errors.Join(os.CopyFS(filepath.Join(dir, newName), os.DirFS(filepath.Join(dir, recordsName))),
				os.Rename(filepath.Join(dir, recordsName), filepath.Join(dir, oldName)))
		},
		"old not removed": func(dir string) error {
			return os.CopyFS(filepath.Join(dir, oldName), os.DirFS(filepath.Join(dir, recordsName)))
		},
	} {
		s := open(t, t.TempDir())
		update(t, s, func(tx *Tx) error { return tx.SetCursor("x", 42) })
		if err := errors.Join(s.Close(), leave(s.opt.Dir)); err != nil {
			t.Fatal(err)
		}
		s = open(t, s.opt.Dir)
		view(t, s, func(tx *Tx) error {
			if n, err := tx.Cursor("x"); err != nil || n != 42 {
				t.Errorf("%s: %d, %v", name, n, err)
			}
			return nil
		})
		sound(t, s)
		for _, n := range []string{buildingName, newName, oldName} {
			if _, err := os.Stat(filepath.Join(s.opt.Dir, n)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s: %v", name, n, err)
			}
		}
	}
}

// TestExpiredUtterances: expired utterances leave nothing, not even an entry in the document log
// once the index has been told.
func TestExpiredUtterances(t *testing.T) {
	s := open(t, t.TempDir())
	const n = coveredPage + 100
	records := func() (n int) {
		view(t, s, func(tx *Tx) error {
			for k := range kinds {
				if k != kindGuard && k != kindHead {
					for range tx.scan(keyOf(k), nil, false) {
						n++
					}
				}
			}
			return nil
		})
		return n
	}
	for i := 0; i < n; i += 100 {
		update(t, s, func(tx *Tx) error {
			for j := i; j < i+100; j++ {
				if err := tx.PutUtterance(&memory.Utterance{ID: testID(j), At: noon, Text: "hello"}); err != nil {
					return err
				}
			}
			return nil
		})
		update(t, s, func(tx *Tx) error {
			for j := i; j < i+100; j++ {
				if err := tx.ExpireUtterance(testID(j)); err != nil {
					return err
				}
			}
			return tx.ExpireUtterance(testID(n + 1))
		})
	}
	update(t, s, func(tx *Tx) error { return tx.PutUtterance(&memory.Utterance{ID: testID(0), At: noon, Text: "again"}) })
	if got := records(); got != n+5 { // a document for each; for the one that came again also an utterance, two index records, and an outbox entry
		t.Errorf("%d records before", got)
	}
	covered := s.state.head.Seq.Document - 1
	update(t, s, func(tx *Tx) error { return tx.IndexCovered(covered) })
	view(t, s, func(tx *Tx) error {
		if left := collect(t, tx.IndexPending(0)); len(left) != n+1-coveredPage {
			t.Errorf("after one call: %d", len(left))
		}
		return nil
	})
	update(t, s, func(tx *Tx) error { return tx.IndexCovered(covered) })
	view(t, s, func(tx *Tx) error {
		if left := collect(t, tx.IndexPending(0)); len(left) != 1 || left[0].ID != testID(0) || left[0].Gone {
			t.Errorf("after two calls: %+v", left)
		}
		return nil
	})
	if got := records(); got != 5 {
		t.Errorf("%d records after", got)
	}
	sound(t, s)
}
