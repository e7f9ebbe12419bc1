// Package objects says where the bytes of blobs lie when they do not lie beside
// a database: named objects that are written whole, read from any place, and
// removed by prefix. Folder keeps them in a folder.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// What callers can tell apart, beside [io/fs.ErrNotExist].
var (
	ErrName = errors.New("not a name of an object")

	// ErrFull: nothing more fits.
	ErrFull = errors.New("the store of objects is full")
	// ErrUnavailable: the store can't be reached, or refuses who asks. It says
	// nothing about what is there.
	ErrUnavailable = errors.New("the store of objects does not answer")
)

// Objects keeps bytes by name. Names are made by the relay, of lower-case
// letters, digits and dashes between slashes. Safe for concurrent use.
type Objects interface {
	// Put keeps what r gives, under a name that is not there or has the same
	// bytes. It is there whole, and durable, or not at all. What r fails with
	// comes back.
	Put(ctx context.Context, name string, r io.Reader) error
	// Open gives the bytes from an offset on; [io/fs.ErrNotExist] if it is not there.
	Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
	// Delete removes one; it is no error if it is not there.
	Delete(ctx context.Context, name string) error
	// Remove removes all whose names begin with a prefix that ends in a slash.
	Remove(ctx context.Context, prefix string) error
	// Check reports whether the store answers, and knows who asks.
	Check(ctx context.Context) error
	io.Closer
}

// CheckName refuses what could mean something to a file system or a service.
func CheckName(name string) error {
	for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
		}) {
			return fmt.Errorf("%w: %q", ErrName, name)
		}
	}
	return nil
}

// Folder is an [Objects] in a folder: a file each, synced before it gets its
// name, as are the folders above it.
type Folder struct{ dir string }

var _ Objects = (*Folder)(nil)

// OpenFolder opens or makes one, readable by its owner alone.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".put-*"))
	if err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	for _, name := range left { // after a crash; another process may be writing others
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(name) // the next start tries again
		}
	}
	return &Folder{dir}, nil
}

// abandoned is how old a file without a name must be to be nobody's.
const abandoned = time.Hour

// Put implements [Objects].
func (f *Folder) Put(ctx context.Context, name string, r io.Reader) (err error) {
	if err := CheckName(name); err != nil {
		return err
	}
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	tmp, err := os.CreateTemp(f.dir, ".put-*") // a Remove may take an empty folder away
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("put %s: %w", name, err)
			_ = os.Remove(tmp.Name()) // it may have its name
		}
	}()
	_, err = io.Copy(tmp, &reader{ctx, r})
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	made, err := f.makeFolders(filepath.Dir(path))
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if errors.Is(err, os.ErrNotExist) { // a Remove beside this one found the folder empty
		if made, err = f.makeFolders(filepath.Dir(path)); err == nil {
			err = os.Rename(tmp.Name(), path)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(path)), made())
}

// makeFolders makes the folders above an object; what it gives syncs those
// that may be new.
func (f *Folder) makeFolders(dir string) (func() error, error) {
	var above []string
	for d := dir; d != f.dir && len(d) > len(f.dir); d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil {
			break
		}
		above = append(above, filepath.Dir(d))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return func() error {
		var errs []error
		for _, d := range above {
			errs = append(errs, atomicfile.SyncDir(d))
		}
		return errors.Join(errs...)
	}, nil
}

// reader stops where its context does.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// Open implements [Objects].
func (f *Folder) Open(_ context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(f.dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Delete implements [Objects].
func (f *Folder) Delete(_ context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(f.dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// Remove implements [Objects]. The folders above go, too, where they are empty.
func (f *Folder) Remove(_ context.Context, prefix string) error {
	if err := CheckName(prefix); err != nil || !strings.HasSuffix(prefix, "/") {
		return errors.Join(err, fmt.Errorf("remove: %w: %q", ErrName, prefix))
	}
	dir := filepath.Join(f.dir, filepath.FromSlash(prefix))
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove %s: %w", prefix, err)
	}
	for d := filepath.Dir(dir); d != f.dir && len(d) > len(f.dir); d = filepath.Dir(d) {
		if os.Remove(d) != nil {
			break // others are in it
		}
	}
	return nil
}

// Check implements [Objects].
func (f *Folder) Check(context.Context) error {
	_, err := os.Stat(f.dir)
	return err
}

// Close implements [Objects].
func (f *Folder) Close() error { return nil }
