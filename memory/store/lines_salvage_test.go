package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// A salvage restores packed utterances, except those that were erased or changed since.
func TestSalvageOfPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	update(t, s, func(tx *Tx) error {
		var errs []error
		for n := range 200 {
			errs = append(errs, tx.PutRemoteUtterance(heard(n, fmt.Sprint("said ", n))))
		}
		return errors.Join(errs...)
	})
	packAll(t, s, noon.Add(time.Hour), never)
	var page entry
	view(t, s, func(tx *Tx) error {
		for e, err := range tx.scan(keyOf(kindLines), nil, false) {
			if err != nil {
				return err
			}
			page = e
		}
		return nil
	})
	update(t, s, func(tx *Tx) error {
		u := heard(150, "[taken out]")
		u.Redacted = 1
		return errors.Join(tx.PutUtterance(u), tx.Erase(Targets{Utterances: []memory.ID{testID(160)}}))
	})
	before := all(t, s)
	// As if the last state of the page were lost, and only the one before existed.
	update(t, s, func(tx *Tx) error { return tx.put(page.key, page.plain) })
	update(t, s, func(tx *Tx) error {
		r, _, err := load[utteranceRecord](tx, utteranceKey(testID(150)))
		return errors.Join(err, tx.save(utteranceKey(testID(150)), r))
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// The result is the same in any order of the files.
	sv := newSalvage(testOptions(dir))
	sv.to = open(t, t.TempDir())
	if err := errors.Join(sv.look(t.Context()), sv.takeLines(page.key, page.plain), sv.flush()); err != nil {
		t.Fatal(err)
	}
	view(t, sv.to, func(tx *Tx) error {
		for n, want := range map[int]bool{149: true, 150: false, 160: false} {
			if _, err := tx.Utterance(testID(n)); (err == nil) != want {
				t.Errorf("of the page before, utterance %d: %v", n, err)
			}
		}
		return nil
	})
	r, to := salvaged(t, dir)
	if len(r.Lost) > 0 || len(r.Files) > 0 {
		t.Errorf("lost: %v, %v", r.Lost, r.Files)
	}
	var a, b struct{ ByTime, ByID []*memory.Utterance }
	if err := errors.Join(json.Unmarshal([]byte(before), &a), json.Unmarshal([]byte(all(t, to)), &b)); err != nil {
		t.Fatal(err)
	}
	if x, y := fmt.Sprintf("%+v", deref(a.ByTime)), fmt.Sprintf("%+v", deref(b.ByTime)); x != y || len(b.ByID) != 199 {
		t.Errorf("%d by id, before:\n%s\nafter:\n%s", len(b.ByID), x, y)
	}
	if n := packAll(t, to, noon.Add(time.Hour), never); n != 199 {
		t.Errorf("%d can be packed again", n)
	}
}

func deref(us []*memory.Utterance) (out []memory.Utterance) {
	for _, u := range us {
		out = append(out, *u)
	}
	return out
}

// Only the page with a wrong byte is lost, and it is named: the others are restored as they were.
func TestSalvageOfFlippedPages(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "store"))
	const many = 600
	for from := 0; from < many; from += 200 {
		update(t, s, func(tx *Tx) error {
			var errs []error
			for n := from; n < from+200; n++ {
				errs = append(errs, tx.PutRemoteUtterance(heard(n, fmt.Sprint("said ", n))))
			}
			return errors.Join(errs...)
		})
	}
	packAll(t, s, noon.Add(time.Hour), never)
	if err := errors.Join(s.Compact(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	files, err := readImage(s.opt.Dir)
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for name, f := range files {
		if filepath.Ext(name) != ".sst" {
			continue
		}
		for n := range 12 {
			work := t.TempDir()
			p := bytes.Clone(f.bytes)
			p[(2*n+1)*len(p)/24] ^= 1 << (n % 8)
			if err := errors.Join(files.write(work), (image{name: {p, f.size}}).write(work)); err != nil {
				t.Fatal(err)
			}
			r, to := salvaged(t, work)
			pages := slices.ContainsFunc(r.Lost, func(d Damage) bool { return d.Kind == kinds[kindLines].name || d.Kind == "bucket" })
			here := 0
			view(t, to, func(tx *Tx) error {
				for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
					if err != nil || u.Text != "said "+u.Metadata["n"] {
						t.Errorf("%+v, %v", u, err)
					}
					here++
				}
				return nil
			})
			if here < many {
				lost++
			}
			if here < many-2*maxPageLines || here < many && !pages {
				t.Errorf("%s, flip %d: %d of %d are here, lost: %v", name, n, here, many, r.Lost)
			}
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if lost == 0 {
		t.Error("the flips hit no page")
	}
}
