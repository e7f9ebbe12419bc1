package backup

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
)

// watched is a place that calls a function before it writes.
type watched struct {
	Place
	write func(name string) error
}

func (w *watched) Write(ctx context.Context, name string, b []byte) error {
	if err := w.write(name); err != nil {
		return err
	}
	return w.Place.Write(ctx, name, b)
}

// headed returns an export with another header.
func headed(h archive.Header, records iter.Seq2[archive.Record, error]) iter.Seq2[archive.Record, error] {
	h.Version = archive.Version
	return func(yield func(archive.Record, error) bool) {
		for r, err := range records {
			if r.Kind == archive.KindHeader {
				r.Data, _ = json.Marshal(h)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// others returns an export that shares no line with export's.
func others(records iter.Seq2[archive.Record, error]) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for r, err := range records {
			if r.Kind == archive.KindUtterance {
				r.Data = []byte(strings.ReplaceAll(string(r.Data), "keeper", "baker"))
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// A new home, or another one, does not replace the only backup, whatever version wrote
// that, unless a person says so.
func TestBackupOfAnotherHomeIsNotReplaced(t *testing.T) {
	at := places["folder"](t)
	mine, other := archive.Header{Space: memory.SpaceID{1}}, archive.Header{Space: memory.SpaceID{2}}
	f := open(t, at)
	opt := WriteOptions{Spool: t.TempDir()}
	write(t, f, headed(mine, export(500)))
	ix, err := f.Index(t.Context())
	if err != nil || ix.Space != mine.Space {
		t.Fatalf("%+v, %v", ix, err)
	}
	older := func() {
		ix.Space, ix.Secrets = memory.SpaceID{}, false
		if err := f.writeIndex(t.Context(), &ix); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string, records iter.Seq2[archive.Record, error], want error) {
		t.Helper()
		before := at.files()
		if _, err := f.Write(t.Context(), records, opt); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
		if !maps.Equal(at.files(), before) {
			t.Errorf("%s: something was written", what)
		}
	}
	for _, version := range []string{"this", "older"} {
		refused(version+": a fresh home", headed(other, export(0)), ErrOtherHome)
		refused(version+": another home", headed(other, export(500)), ErrOtherHome)
		refused(version+": this home, empty", headed(mine, export(0)), ErrNothing)
		older()
	}
	// The same for a backup of an older version whose header is damaged, and for any
	// with a damaged index.
	header, index := place(ix.Pieces[0]), at.files()[indexName]
	sealed := at.files()[header]
	at.set(header, sealed[:len(sealed)-1]+"x")
	refused("a damaged header", headed(other, others(export(499))), ErrOtherHome)
	at.set(header, sealed)
	at.set(indexName, index[:len(index)-1])
	at.set(copyName, "")
	refused("a damaged index", headed(other, others(export(499))), ErrOtherHome)
	write(t, f, headed(mine, export(501)))
	if got := texts(t, f); len(got) != 501 {
		t.Errorf("%d lines", len(got))
	}
	opt.OtherHome = true
	if _, err := f.Write(t.Context(), headed(other, export(7)), opt); err != nil {
		t.Error(err)
	}
	if ix, err := f.Index(t.Context()); err != nil || ix.Space != other.Space || ix.Records != 7 {
		t.Errorf("%+v, %v", ix, err)
	}
}

// A backup without the values of the vault replaces one that has them only if that is
// allowed.
func TestBackupWithoutVaultNeedsConsent(t *testing.T) {
	at := places["folder"](t)
	f := open(t, at)
	opt := WriteOptions{Spool: t.TempDir()}
	h := archive.Header{Space: memory.SpaceID{1}, Secrets: true}
	write(t, f, headed(h, export(100)))
	h.Secrets = false
	if _, err := f.Write(t.Context(), headed(h, export(101)), opt); !errors.Is(err, ErrVault) {
		t.Error(err)
	}
	if got := texts(t, f); len(got) != 100 {
		t.Errorf("%d lines", len(got))
	}
	opt.Vault = true
	if _, err := f.Write(t.Context(), headed(h, export(101)), opt); err != nil {
		t.Error(err)
	}
	if ix, err := f.Index(t.Context()); err != nil || ix.Secrets {
		t.Errorf("%+v, %v", ix, err)
	}
	write(t, f, headed(h, export(102)))
}

// While the export is read, nothing is written to the place, and no spool file is left
// behind.
func TestSpool(t *testing.T) {
	at := places["folder"](t)
	f := open(t, at.Place)
	read := false
	f.at = &watched{at.Place, func(name string) error {
		if !read {
			t.Errorf("%s is written while the export is read", name)
		}
		return nil
	}}
	dir := t.TempDir()
	left := filepath.Join(dir, "backup-1.spool") // of a process that was killed
	if err := folder(dir).Write(t.Context(), filepath.Base(left), []byte("sealed")); err != nil {
		t.Fatal(err)
	}
	w, err := f.Write(t.Context(), func(yield func(archive.Record, error) bool) {
		for r, err := range export(3000) {
			if !yield(r, err) {
				return
			}
		}
		read = true
	}, WriteOptions{Spool: dir})
	if err != nil || w.New != w.Pieces-2 || w.Bytes == 0 { // the first and the last are not counted
		t.Errorf("%+v, %v", w, err)
	}
	if got := texts(t, f); len(got) != 3000 {
		t.Errorf("%d lines", len(got))
	}
	if there := files(t, dir); len(there) > 0 {
		t.Error(slices.Collect(maps.Keys(there)))
	}
}

// A damaged piece of the right size is written again, once a check has found it.
func TestDamagedPieceIsRewritten(t *testing.T) {
	at := places["s3"](t)
	f := open(t, at)
	write(t, f, export(3000))
	if names, err := f.NoteDamage(t.Context()); err != nil || names != nil {
		t.Error(names, err)
	}
	ix, err := f.Index(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, id := range ix.Pieces[1:3] {
		b := []byte(at.files()[place(id)])
		b[len(b)/2] ^= 1
		at.set(place(id), string(b))
		want = append(want, place(id))
	}
	names, err := f.NoteDamage(t.Context())
	if err != nil || !slices.Equal(names, want) {
		t.Fatal(names, err)
	}
	if w := write(t, f, export(3000)); w.New != 2 || w.Gone != 0 {
		t.Errorf("%+v", w)
	}
	if got := texts(t, f); len(got) != 3000 {
		t.Errorf("%d lines", len(got))
	}
	if w := write(t, f, export(3000)); w.New != 0 {
		t.Errorf("again: %+v", w)
	}
}
