package store

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

var golden = flag.Bool("golden", false, "write testdata/format4.tar.gz anew; only for a format that no release has")

// TestFormatsOpen opens stores that were written when their formats were new, and
// writes to them. The store of format 3 has guards, buckets and packed lines as formats 1 to 3 had
// them. A change that breaks one needs a new format and a migration.
func TestFormatsOpen(t *testing.T) {
	if *golden {
		writeGolden(t, filepath.Join(t.TempDir(), "store"), "testdata/format4.tar.gz")
	}
	for _, name := range []string{"format1", "format3", "format4"} {
		t.Run(name, func(t *testing.T) { goldenOpens(t, "testdata/"+name+".tar.gz", name != "format1") })
	}
}

func goldenOpens(t *testing.T, file string, lines bool) {
	dir := filepath.Join(t.TempDir(), "store")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var b []byte
			if b, err = io.ReadAll(r); err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	sound(t, s)
	view(t, s, func(tx *Tx) error {
		m, err := tx.Memory(testID(60))
		if err != nil || m.Slot.Value != "Antwerp" || m.State != memory.Active || m.Group == "" {
			t.Errorf("memory: %+v, %v", m, err)
		}
		if u, err := tx.Utterance(testID(5)); err != nil || u.Text != "hello there" || !u.At.Equal(noon) {
			t.Errorf("utterance: %+v, %v", u, err)
		}
		if o, ok, err := tx.EventMark(memory.EventID{Device: "pin", Boot: 1, Seq: 60}); o != "done" || !ok || err != nil {
			t.Errorf("mark: %q, %v", o, err)
		}
		if d, err := tx.Device("pin"); err != nil || string(d.Credentials) != "hash" {
			t.Errorf("device: %+v, %v", d, err)
		}
		_, r, err := tx.Segment("one")
		if err != nil {
			return err
		}
		defer r.Close()
		if b, err := io.ReadAll(r); err != nil || string(b) != "a segment" {
			t.Errorf("segment: %q, %v", b, err)
		}
		if u, err := tx.Utterance(heard(7, "").ID); lines && (err != nil || u.Text != "a packed line") {
			t.Errorf("packed line: %+v, %v", u, err)
		}
		return nil
	})
	// One memory in each transaction, until every turn has been written.
	for i := range turns + 1 {
		update(t, s, func(tx *Tx) error {
			_, err := tx.Assert(home(120+i, me, uint64(3+i), fmt.Sprint("Town ", i)))
			return err
		})
	}
	sound(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := Inspect(t.Context(), testOptions(dir)); err != nil || len(found) > 0 {
		t.Errorf("inspect: %+v, %v", found, err)
	}
	s = open(t, dir)
	if s.state.head.Format != Format {
		t.Errorf("format %d after a transaction", s.state.head.Format)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	sound(t, s)
}

func writeGolden(t *testing.T, dir, goldenFile string) {
	s := open(t, dir)
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(home(1, me, 1, "Ghent"), home(60, me, 2, "Antwerp"))
		return errors.Join(err, tx.PutUtterance(&memory.Utterance{ID: testID(5), At: noon, Text: "hello there"}),
			tx.MarkEvent(memory.EventID{Device: "pin", Boot: 1, Seq: 60}, "done"),
			tx.PutDevice(Device{Name: "pin", Credentials: []byte("hash")}), tx.PutSegment("one", 3, []byte("a segment")), tx.PutRemoteUtterance(heard(7, "a packed line")))
	})
	packAll(t, s, noon.Add(time.Hour), never)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	w := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == lockName {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(b))}); err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err := errors.Join(err, w.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
