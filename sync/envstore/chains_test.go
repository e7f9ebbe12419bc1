package envstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
)

// begin returns the first delta of each of n chains of the watch, and one more for the first chain.
func begin(t *testing.T, state *envelope.State, n int) (ds []*envelope.Delta) {
	t.Helper()
	for i := range n {
		a := &author{actor: watch, state: state, inc: uint64(i)}
		ds = append(ds, a.say(t, fmt.Sprintf("of life %d.", i)))
		if i == n-1 {
			ds = append(ds, a.say(t, "goes on"))
		}
	}
	return ds
}

// An envelope store takes as many chains of a member as a relay, whatever their
// source. A further chain is reported as a whole and does not block later
// deltas.
func TestChainsInAStore(t *testing.T) {
	log, state := world(t)
	const most = envelope.MaxIncarnations
	ds := begin(t, state, most+2)
	p := &author{actor: phone, state: state}
	mine := p.say(t, "of another")

	dir := t.TempDir()
	s := newStore(t, dir, log)
	take(t, s, ds[:most]...)
	for _, d := range ds[most:] {
		if _, err := s.TakeDelta(d); !errors.Is(err, envelope.ErrChains) {
			t.Errorf("%s: %v", d.Header.Position(), err)
		}
	}
	first := &author{actor: watch, state: state, last: ds[0].Header.Next()}
	take(t, s, ds[1], first.say(t, "as ever"), mine)
	s = newStore(t, dir, log)
	if _, err := s.TakeDelta(ds[most]); !errors.Is(err, envelope.ErrChains) {
		t.Errorf("after it was opened again: %v", err)
	}
	if err := s.Append(t.Context(), ds[most]); !errors.Is(err, envelope.ErrChains) {
		t.Errorf("of its own: %v", err)
	}

	// From a remote that has all of them.
	all := newStore(t, t.TempDir(), log)
	for _, d := range append(slices.Clone(ds), mine) {
		if _, err := all.takeDelta(d, most+2); err != nil {
			t.Fatal(err)
		}
	}
	s = newStore(t, t.TempDir(), log)
	c := carrier(t, s, "http://one", few{all, theirs.id, 0})
	for range 2 {
		if err := c.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := bodies(t, s); !strings.Contains(got, "of another") || strings.Count(got, "of life") != most || strings.Contains(got, "goes on") {
		t.Errorf("from a remote: %s", got)
	}
	if st := c.Standing(); st.Failing || !slices.ContainsFunc(st.Trouble, func(s string) bool { return strings.Contains(s, "the most chains") }) {
		t.Errorf("%+v", st)
	}

	// From a folder that has all of them: the longest chains.
	folder := OpenFolder(t.TempDir(), spaceID)
	if _, err := all.SyncFolder(t.Context(), folder, phone.id, nil); err != nil {
		t.Fatal(err)
	}
	s = newStore(t, t.TempDir(), log)
	m, err := s.SyncFolder(t.Context(), folder, phone.id, nil)
	if err != nil || m.Took != most+2 || len(m.Trouble) != 2 || !strings.Contains(m.Trouble[0], "the most chains") {
		t.Fatalf("%+v, %v", m, err)
	}
	if got := bodies(t, s); !strings.Contains(got, "of another") || strings.Count(got, "of life") != most || !strings.Contains(got, "goes on") {
		t.Errorf("from a folder: %s", got)
	}

	// From a broken store that was moved aside: all.
	s = newStore(t, t.TempDir(), log)
	if m, err := s.Refill(t.Context(), filepath.Dir(all.root), nil); err != nil || m.Took != len(ds)+1 || len(m.Trouble) != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
}

// A store of an earlier version, with more chains than a folder may have, can
// be opened.
func TestStoreOfManyChains(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	s := newStore(t, dir, log)
	var order strings.Builder
	for _, d := range begin(t, state, maxChains+1) {
		path := s.folder.deltaPath(chainOf(&d.Header), d.Header.Seq)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, d.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&order, "%s %d\n", chainOf(&d.Header), d.Header.Seq)
	}
	if err := os.WriteFile(filepath.Join(s.root, "order"), []byte(order.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s = newStore(t, dir, log)
	if len(s.links) != maxChains+1 {
		t.Errorf("%d chains", len(s.links))
	}
}
