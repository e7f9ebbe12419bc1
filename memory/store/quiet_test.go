package store

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/wait"
)

// A store starts compactors when tables pile up, and stops them when it has caught
// up. Nothing is lost on the way.
func TestCompactorsOnlyWhenNeeded(t *testing.T) {
	dir, key := t.TempDir(), seal.NewKey()
	s, err := Open(Options{Dir: dir, Key: key, Small: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.compacts {
		t.Fatal("it compacts from the beginning")
	}
	value := make([]byte, 100<<10)
	rand.Read(value)
	n := 0
	for ; !s.compacts; n++ {
		if n == 4*manyTables*memTable/len(value) {
			t.Fatalf("%d tables wait", tablesWaiting(s.db))
		}
		err := s.Update(t.Context(), func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(n), value) })
		if err != nil {
			t.Fatal(err)
		}
	}
	for s.compacts {
		if err := s.Rest(); err != nil {
			t.Fatal(err)
		}
		if !wait.For(t.Context(), 5*time.Millisecond) {
			t.Fatal("it compacts for ever")
		}
	}
	if waiting := tablesWaiting(s.db); waiting >= fewTables {
		t.Errorf("%d tables wait after a rest", waiting)
	}
	err = s.View(t.Context(), func(tx *Tx) error {
		for i := range n {
			var got []byte
			if _, err := tx.Meta(fmt.Sprint(i), &got); err != nil {
				return err
			}
			if !bytes.Equal(got, value) {
				return fmt.Errorf("record %d is another", i)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Rest(); err != nil {
		t.Errorf("a rest after the end: %v", err)
	}
}
