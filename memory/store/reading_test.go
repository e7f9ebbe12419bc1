package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
)

// A log that ends at any byte, as after a crash, is read up to the same transaction whether the
// store is opened for reading alone or for writing.
func TestTruncatedLogReadsTheSame(t *testing.T) {
	opt := Options{Dir: filepath.Join(t.TempDir(), "store"), Key: seal.NewKey(), Small: true}
	s, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		update(t, s, func(tx *Tx) error { return tx.PutMeta(fmt.Sprint(i), make([]byte, 300)) })
	}
	killed := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(killed, os.DirFS(opt.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(killed, recordsName, "*.mem"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	whole, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	last := len(whole)
	for whole[last-1] == 0 {
		last--
	}
	seen := map[string]bool{}
	opened := 0
	for at := last; at > last-1500; at -= 37 {
		var found [2]string
		for i, free := range []uint64{1 << 40, 0} {
			opt := opt
			opt.Accept = true // the anchor belongs to a later transaction
			opt.Dir, opt.Free = filepath.Join(t.TempDir(), "store"), func(string) (uint64, error) { return free, nil }
			if err := os.CopyFS(opt.Dir, os.DirFS(killed)); err != nil {
				t.Fatal(err)
			}
			log := append(whole[:at:at], make([]byte, 5000)...)
			if err := os.WriteFile(filepath.Join(opt.Dir, recordsName, filepath.Base(logs[0])), log, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(opt)
			if err != nil { // no crash makes such a cut
				found[i] = err.Error()
				continue
			}
			if opened++; s.isFull() != (free == 0) {
				t.Fatal("open for reading alone:", s.isFull())
			}
			found[i] = fmt.Sprint("generation ", s.state.head.Generation)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if found[0] != found[1] {
			t.Errorf("of %d bytes is read: %s; with room: %s", at, found[1], found[0])
		}
		seen[found[0]] = true
	}
	if opened < 20 {
		t.Errorf("%d were opened", opened)
	}
	if len(seen) < 2 {
		t.Errorf("the ends were all in one transaction: %v", seen)
	}
}
