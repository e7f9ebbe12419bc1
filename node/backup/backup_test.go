package backup

import (
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
	"github.com/locket-dev/locket/internal/testing/s3test"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
)

const pass = "correct horse"

// export returns an export of n lines, without the lines in without.
func export(n int, without ...int) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		count := 0
		say := func(kind string, v any) bool {
			b, _ := json.Marshal(v)
			return yield(archive.Record{Kind: kind, Data: b}, nil)
		}
		if !say(archive.KindHeader, archive.Header{Version: archive.Version, Space: memory.SpaceID{1}}) {
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

// kept is a place that a test inspects and changes.
type kept struct {
	Place
	files func() map[string]string
	set   func(name, content string) // content "": it is removed
}

// places makes an empty place of each kind.
var places = map[string]func(*testing.T) kept{
	"folder": func(t *testing.T) kept {
		dir := filepath.Join(t.TempDir(), "backup")
		return kept{folder(dir), func() map[string]string { return files(t, dir) }, func(name, content string) {
			path := filepath.Join(dir, name)
			err := os.Remove(path)
			if content != "" {
				err = os.WriteFile(path, []byte(content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}}
	},
	"s3": func(t *testing.T) kept {
		s := s3test.New(t)
		return kept{bucketAt(t, s, "some/prefix"), func() map[string]string {
			out := map[string]string{}
			for name, b := range s.Objects() {
				out[strings.TrimPrefix(name, "some/prefix/")] = string(b)
			}
			return out
		}, func(name, content string) {
			b := []byte(content)
			if content == "" {
				b = nil
			}
			s.Set("some/prefix/"+name, b)
		}}
	},
}

// inEach runs a test with each kind of place.
func inEach(t *testing.T, test func(*testing.T, kept)) {
	for name, make := range places {
		t.Run(name, func(t *testing.T) { test(t, make(t)) })
	}
}

func open(t *testing.T, at Place) *Folder {
	t.Helper()
	f, err := Open(t.Context(), at, pass)
	if errors.Is(err, ErrNone) {
		f, err = Make(t.Context(), at, pass)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t *testing.T, f *Folder, records iter.Seq2[archive.Record, error]) Written {
	t.Helper()
	w, err := f.Write(t.Context(), records, WriteOptions{Spool: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// texts returns the texts in the folder's backup.
func texts(t *testing.T, f *Folder) (out []string) {
	t.Helper()
	_, err := archive.Check(f.Records(t.Context()), func(r archive.Record) error {
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
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The next backup writes what is new and removes what was forgotten, and a
// restore returns the newest one.
func TestIncremental(t *testing.T) { inEach(t, testIncremental) }

func testIncremental(t *testing.T, at kept) {
	f := open(t, at)
	first := write(t, f, export(5000))
	if first.New != first.Pieces-2 || first.Pieces < 20 || first.Gone != 0 || first.Records != 5000 {
		t.Fatalf("%+v", first)
	}
	before := at.files()
	if again := write(t, f, export(5000)); again.New != 0 || again.Gone != 0 {
		t.Errorf("the same again: %+v", again)
	}
	next := write(t, f, export(5001, 2500))
	// The pieces that may change are those with the removed line, the last line
	// and the end.
	if next.New > 4 || next.Gone > 4 || next.New == 0 {
		t.Errorf("a line more and one less: %+v", next)
	}
	got := texts(t, f)
	if len(got) != 5000 || slices.Contains(got, line(2500)) || !slices.Contains(got, line(5000)) {
		t.Errorf("%d lines came back", len(got))
	}
	after := at.files()
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

// A backup that is cut off, or interrupted, leaves the previous one intact.
func TestCutOff(t *testing.T) { inEach(t, testCutOff) }

func testCutOff(t *testing.T, at kept) {
	f := open(t, at)
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
	opt := WriteOptions{Spool: t.TempDir()}
	before := at.files()
	if _, err := f.Write(t.Context(), cut, opt); !errors.Is(err, lost) {
		t.Error(err)
	}
	if !maps.Equal(at.files(), before) {
		t.Error("an export that did not end was written")
	}
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := f.Write(ctx, export(3000), opt); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	full := errors.New("the stick is full")
	f.at = &watched{at.Place, func(name string) error {
		if len(at.files()) > len(before)+3 {
			return full
		}
		return nil
	}}
	if _, err := f.Write(t.Context(), export(3000), opt); !errors.Is(err, full) {
		t.Error(err)
	}
	f.at = at.Place
	if got := texts(t, f); len(got) != 1000 {
		t.Errorf("%d lines", len(got))
	}
	if w := write(t, f, export(1000)); w.Gone == 0 {
		t.Error("what was cut off stays")
	}
}

// If any byte is changed in any file, that is reported, and no line is invented.
func TestDamage(t *testing.T) { inEach(t, testDamage) }

func testDamage(t *testing.T, at kept) {
	f := open(t, at)
	write(t, f, export(300))
	want := texts(t, f)
	check := func() error {
		_, err := archive.Check(f.Records(t.Context()), nil)
		return errors.Join(err, f.CheckIndex(t.Context()))
	}
	for name, was := range at.files() {
		if name == lockName || name == keyName {
			continue
		}
		for _, i := range []int{0, 4, 5, 20, 21, len(was) / 2, len(was) - 1} {
			b := []byte(was)
			b[i] ^= 1
			at.set(name, string(b))
			if err := check(); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, byte %d: %v", name, i, err)
			}
		}
		at.set(name, "")
		if err := check(); err == nil && name != copyName { // a folder of version 0.1.0 has no copy
			t.Errorf("%s is missing, and the check reports nothing", name)
		}
		// A file that was cut off by a full disk is written again.
		at.set(name, was[:len(was)/2])
		if err := check(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s is cut off: %v", name, err)
		}
		write(t, f, export(300))
		if got := texts(t, f); !slices.Equal(got, want) {
			t.Errorf("%s is not written anew: %d lines", name, len(got))
		}
	}
}

func TestOpenAndMakeErrors(t *testing.T) { inEach(t, testDoors) }

func testDoors(t *testing.T, at kept) {
	if _, err := Open(t.Context(), at, pass); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	at.Write(t.Context(), "mine.txt", []byte("x"))
	if _, err := Make(t.Context(), at, pass); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	if left := at.files(); len(left) != 1 || left["mine.txt"] != "x" {
		t.Error(left)
	}
	at.set("mine.txt", "")
	f := open(t, at)
	if _, err := Open(t.Context(), at, pass); err == nil {
		t.Error("two have it open")
	}
	if _, err := f.Index(t.Context()); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(t.Context(), at, "another horse"); !errors.Is(err, seal.ErrFile) {
		t.Error(err)
	}
	if f, err := Open(t.Context(), at, pass); err != nil || f.Close() != nil {
		t.Error("another passphrase left it locked: ", err)
	}
}

// A mistyped URL is not a folder; a path on a Windows drive is one, and so is a
// path that begins with ./.
func TestAtRefusesMistypedURLs(t *testing.T) {
	for _, name := range []string{"s3:/my-bucket", "s3:my-bucket", "S3://my-bucket", "s3//my-bucket", "https://example.org/x", "file:/mnt"} {
		if at, err := ParsePlace(name, t.TempDir(), os.Getenv); err == nil || !strings.Contains(err.Error(), "s3://BUCKET/PREFIX") {
			t.Errorf("%s: %v, %v", name, at, err)
		}
	}
	for _, name := range []string{`D:\backup`, "d:/backup", "/mnt/s3:", "./s3:", "stick"} {
		if _, err := ParsePlace(name, t.TempDir(), os.Getenv); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A backup in the home would be lost with it.
func TestBackupInsideTheHomeIsRefused(t *testing.T) {
	home := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(link, "none")
	for _, c := range [][2]string{{home, home}, {filepath.Join(home, "a", "b"), home}, {filepath.Join(link, "a"), home},
		{filepath.Join(home, "..", filepath.Base(home), "a"), home}, {filepath.Join(home, "none", "b"), absent}} {
		if err := Outside(c[0], c[1]); err == nil || !strings.Contains(err.Error(), "lies in the home") {
			t.Errorf("%s: %v", c[0], err)
		}
	}
	for _, c := range [][2]string{{filepath.Dir(home), home}, {filepath.Join(home, ".."), home}, {home + "-backup", home}, {home, absent}, {"s3://bucket/a", home}} {
		if err := Outside(c[0], c[1]); err != nil {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

// If one piece of a backup is damaged or missing, the others can be read, and form an archive.
func TestReadable(t *testing.T) { inEach(t, testReadable) }

func testReadable(t *testing.T, at kept) {
	f := open(t, at)
	write(t, f, export(900))
	all := texts(t, f)
	ix, err := f.Index(t.Context())
	if err != nil || len(ix.Pieces) < 4 {
		t.Fatalf("%d pieces, %v", len(ix.Pieces), err)
	}
	files := at.files()
	for i, id := range ix.Pieces {
		name := place(id)
		for _, now := range []string{"", files[name][:20]} {
			at.set(name, now)
			var damaged []string
			var is archive.Header
			lines := map[string]bool{}
			sum, err := archive.Check(f.Readable(t.Context(), &damaged), func(r archive.Record) error {
				var u struct{ Text string }
				switch r.Kind {
				case archive.KindHeader:
					return json.Unmarshal(r.Data, &is)
				case archive.KindUtterance:
					err := json.Unmarshal(r.Data, &u)
					lines[u.Text] = true
					return err
				}
				return nil
			})
			if err != nil || !slices.Equal(damaged, []string{name}) || sum.Key != nil || is.Space != (memory.SpaceID{1}) || sum.Records != len(lines) {
				t.Fatalf("piece %d: %+v, %+v, %q, %v", i, sum, is, damaged, err)
			}
			if n := len(lines); n < len(all)/2 || n == len(all) && i > 0 && i < len(ix.Pieces)-1 {
				t.Errorf("piece %d: %d lines of %d are left", i, n, len(all))
			}
		}
		at.set(name, files[name])
	}
	var damaged []string
	if sum, err := archive.Check(f.Readable(t.Context(), &damaged), nil); err != nil || sum.Records != len(all) || len(damaged) > 0 {
		t.Errorf("%+v, %q, %v", sum, damaged, err)
	}
	// One of the index and its copy is enough.
	index := files[indexName]
	for _, now := range []string{"", index[:len(index)-1], "x" + index[1:]} {
		for _, name := range []string{indexName, copyName} {
			at.set(name, now)
			if got, err := f.Index(t.Context()); err != nil || !slices.Equal(got.Pieces, ix.Pieces) {
				t.Errorf("with %s of %d bytes: %v, %v", name, len(now), got, err)
			}
			missing := now == "" && name == copyName // as in a folder of version 0.1.0
			if err := f.CheckIndex(t.Context()); missing && err != nil || !missing && !errors.Is(err, ErrDamaged) {
				t.Errorf("with %s of %d bytes: %v", name, len(now), err)
			}
			at.set(name, index)
		}
	}
	if err := f.CheckIndex(t.Context()); err != nil {
		t.Error(err)
	}
	at.set(indexName, "")
	at.set(copyName, "")
	if _, err := archive.Check(f.Readable(t.Context(), &damaged), nil); !errors.Is(err, ErrNone) {
		t.Errorf("without an index: %v", err)
	}
}
