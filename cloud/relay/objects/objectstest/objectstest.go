// Package objectstest tests whether an implementation keeps the contract of
// [objects.Objects].
package objectstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/locket-dev/locket/cloud/relay/objects"
)

// Run tests an implementation, which must be empty at first.
func Run(t *testing.T, o objects.Objects) {
	ctx := context.Background()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string, offset int64) string {
		t.Helper()
		r, err := o.Open(ctx, name, offset)
		ok(err)
		b, err := io.ReadAll(r)
		ok(errors.Join(err, r.Close()))
		return string(b)
	}
	gone := func(name string) {
		t.Helper()
		if r, err := o.Open(ctx, name, 0); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				r.Close()
			}
			t.Fatalf("%s: %v", name, err)
		}
	}
	ok(o.Check(ctx))
	gone("space/id/whole")
	large := bytes.Repeat([]byte("sealed "), 1<<20)
	ok(o.Put(ctx, "space/id/whole", bytes.NewReader(large)))
	ok(o.Put(ctx, "space/id/0-ab", bytes.NewReader([]byte("part"))))
	ok(o.Put(ctx, "space/id2/whole", bytes.NewReader([]byte("another"))))
	ok(o.Put(ctx, "space2/id/whole", bytes.NewReader([]byte("of another"))))
	ok(o.Put(ctx, "space2/id/whole", bytes.NewReader([]byte("of another")))) // writing the same bytes twice is allowed
	if read("space/id/whole", 0) != string(large) || read("space/id/whole", 7<<20-3) != "ed " || read("space/id/0-ab", 2) != "rt" {
		t.Fatal("other bytes")
	}
	ok(o.Delete(ctx, "space/id/0-ab"))
	ok(o.Delete(ctx, "space/id/0-ab"))
	gone("space/id/0-ab")
	// A reader that fails leaves no object.
	broken := errors.New("broken")
	if err := o.Put(ctx, "space/id3/whole", io.MultiReader(bytes.NewReader(large), &fails{broken})); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	gone("space/id3/whole")
	ok(o.Remove(ctx, "space/id/"))
	ok(o.Remove(ctx, "space/id/"))
	gone("space/id/whole")
	if read("space/id2/whole", 0) != "another" || read("space2/id/whole", 0) != "of another" {
		t.Fatal("another was removed, too")
	}
	for _, name := range []string{"", "/", "..", "../x", "a/../b", "/etc/passwd", "a//b", "a\\b", "a\x00b", "A", "a b", "a/.put", "é", "a%2fb"} {
		if err := o.Put(ctx, name, bytes.NewReader(nil)); !errors.Is(err, objects.ErrName) {
			t.Errorf("put %q: %v", name, err)
		}
		if _, err := o.Open(ctx, name, 0); !errors.Is(err, objects.ErrName) {
			t.Errorf("open %q: %v", name, err)
		}
		if err := o.Delete(ctx, name); !errors.Is(err, objects.ErrName) {
			t.Errorf("delete %q: %v", name, err)
		}
		if err := o.Remove(ctx, name); !errors.Is(err, objects.ErrName) {
			t.Errorf("remove %q: %v", name, err)
		}
	}
	if err := o.Remove(ctx, "space"); !errors.Is(err, objects.ErrName) {
		t.Errorf("remove without a slash: %v", err)
	}
}

type fails struct{ err error }

func (f *fails) Read([]byte) (int, error) { return 0, f.err }
