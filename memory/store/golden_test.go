package store

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

var golden = flag.Bool("golden", false, "write testdata/format1.tar.gz anew; only for a format that no release has")

const goldenFile = "testdata/format1.tar.gz"

// TestFormat1Opens opens a store that was written when format 1 was new. A
// change that breaks it needs format 2 and a migration.
func TestFormat1Opens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if *golden {
		writeGolden(t, filepath.Join(t.TempDir(), "store"))
	}
	f, err := os.Open(goldenFile)
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
		return nil
	})
	update(t, s, func(tx *Tx) error { _, err := tx.Assert(home(120, me, 3, "Bruges")); return err })
	sound(t, s)
}

func writeGolden(t *testing.T, dir string) {
	s := open(t, dir)
	update(t, s, func(tx *Tx) error {
		_, err := tx.Assert(home(1, me, 1, "Ghent"), home(60, me, 2, "Antwerp"))
		return errors.Join(err, tx.PutUtterance(&memory.Utterance{ID: testID(5), At: noon, Text: "hello there"}),
			tx.MarkEvent(memory.EventID{Device: "pin", Boot: 1, Seq: 60}, "done"),
			tx.PutDevice(Device{Name: "pin", Credentials: []byte("hash")}), tx.PutSegment("one", 3, []byte("a segment")))
	})
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
