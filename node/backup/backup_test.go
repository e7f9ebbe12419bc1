package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/archive"
)

const pass = "correct horse"

// export is one of n lines, without those of without.
func export(n int, without ...int) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		count := 0
		say := func(kind string, v any) bool {
			b, _ := json.Marshal(v)
			return yield(archive.Record{Kind: kind, Data: b}, nil)
		}
		if !say(archive.KindHeader, archive.Header{Version: archive.Version}) {
			return
		}
		for i := range n {
			if slices.Contains(without, i) {
				continue
			}
			count++
			if !say(archive.KindUtterance, map[string]string{"text": line(i)}) {
				return
			}
		}
		say(archive.KindEnd, archive.End{Records: count})
	}
}

func line(i int) string {
	return fmt.Sprintf("The keeper of island %d counted %d gulls. %s", i, 3*i, strings.Repeat("x", i%90))
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir, pass)
	if errors.Is(err, ErrNone) {
		f, err = Make(dir, pass)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t *testing.T, f *Folder, records iter.Seq2[archive.Record, error]) Written {
	t.Helper()
	w, err := f.Write(t.Context(), records)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// texts are those that the folder gives back.
func texts(t *testing.T, f *Folder) (out []string) {
	t.Helper()
	_, err := archive.Check(f.Records(), func(r archive.Record) error {
		if r.Kind != archive.KindUtterance {
			return nil
		}
		var u struct{ Text string }
		out = append(out, "")
		err := json.Unmarshal(r.Data, &u)
		out[len(out)-1] = u.Text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The next backup writes what is new and takes away what was forgotten, and what
// comes back is the newest.
func TestIncremental(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backup")
	f := open(t, dir)
	first := write(t, f, export(5000))
	if first.New != first.Pieces || first.Pieces < 20 || first.Gone != 0 || first.Records != 5000 {
		t.Fatalf("%+v", first)
	}
	before := files(t, dir)
	if again := write(t, f, export(5000)); again.New != 0 || again.Gone != 0 {
		t.Errorf("the same again: %+v", again)
	}
	next := write(t, f, export(5001, 2500))
	// Of the pieces with the line that went, the last line and the end.
	if next.New > 4 || next.Gone > 4 || next.New == 0 {
		t.Errorf("a line more and one less: %+v", next)
	}
	got := texts(t, f)
	if len(got) != 5000 || slices.Contains(got, line(2500)) || !slices.Contains(got, line(5000)) {
		t.Errorf("%d lines came back", len(got))
	}
	after := files(t, dir)
	same := 0
	for path := range maps.Keys(after) {
		if before[path] == after[path] {
			same++
		}
		if strings.Contains(after[path], "keeper") {
			t.Errorf("%s is in clear", path)
		}
	}
	if same < first.Pieces-4 {
		t.Errorf("%d of %d files are as they were", same, len(after))
	}
}

// One that is cut off, or that somebody ends, leaves the one before.
func TestCutOff(t *testing.T) {
	f := open(t, t.TempDir())
	write(t, f, export(1000))
	lost := errors.New("the node went")
	cut := func(yield func(archive.Record, error) bool) {
		n := 0
		for r := range export(3000) {
			if n++; n > 2000 {
				yield(archive.Record{}, lost)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
	if _, err := f.Write(t.Context(), cut); !errors.Is(err, lost) {
		t.Error(err)
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := f.Write(ctx, export(3000)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := texts(t, f); len(got) != 1000 {
		t.Errorf("%d lines", len(got))
	}
	if w := write(t, f, export(1000)); w.Gone == 0 {
		t.Error("what was cut off stays")
	}
}

// Whatever byte is changed in whatever file, it is told, and no line is made up.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	write(t, f, export(300))
	want := texts(t, f)
	for path, was := range files(t, dir) {
		if name := filepath.Base(path); name == "lock" || name == "key.age" {
			continue
		}
		for _, at := range []int{0, 4, 5, 20, 21, len(was) / 2, len(was) - 1} {
			b := []byte(was)
			b[at] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := archive.Check(f.Records(), nil)
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, byte %d: %v", path, at, err)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Check(f.Records(), nil); err == nil {
			t.Errorf("%s is gone, and nothing is told", path)
		}
		// What a full disk cut off is written anew.
		if err := os.WriteFile(path, []byte(was)[:len(was)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, f, export(300))
		if got := texts(t, f); !slices.Equal(got, want) {
			t.Errorf("%s is not written anew: %d lines", path, len(got))
		}
	}
}

func TestDoors(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	if _, err := Open(dir, pass); err == nil {
		t.Error("two have it open")
	}
	if _, err := f.Index(); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(dir, "another horse"); !errors.Is(err, seal.ErrFile) {
		t.Error(err)
	}
	if f, err := Open(dir, pass); err != nil || f.Close() != nil {
		t.Error("another passphrase left it locked: ", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "mine.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(other, pass); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	if left := files(t, other); len(left) != 1 || !bytes.Equal([]byte(left[filepath.Join(other, "mine.txt")]), []byte("x")) {
		t.Error(left)
	}
	if _, err := Open(t.TempDir(), pass); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}
