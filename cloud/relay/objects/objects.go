// Package objects stores the bytes of blobs apart from a database: as named objects
// that are written as a whole, can be read from any offset, and can be removed by
// prefix. A Folder keeps them in a folder.
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

// Callers can distinguish these errors, and [io/fs.ErrNotExist].
var (
	ErrName = errors.New("not a name of an object")

	// ErrFull: there is no room left.
	ErrFull = errors.New("the store of objects is full")
	// ErrUnavailable: the store can't be reached, or refuses the caller. This says
	// nothing about whether an object exists.
	ErrUnavailable = errors.New("the store of objects does not answer")
)

// Objects stores bytes by name. The relay makes the names. They consist of lower-case
// letters, digits and dashes, with slashes between the parts. An implementation must
// be safe for concurrent use.
type Objects interface {
	// Put stores the bytes of r under a name that does not exist yet or has the same
	// bytes. The object is then complete and durable; on error there is none. An
	// error of r is returned.
	Put(ctx context.Context, name string, r io.Reader) error
	// Open returns the bytes from an offset to the end. It returns
	// [io/fs.ErrNotExist] if the object does not exist.
	Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
	// Delete removes an object. If there is none, it returns nil.
	Delete(ctx context.Context, name string) error
	// Remove removes all objects whose names begin with a prefix, which ends in a
	// slash.
	Remove(ctx context.Context, prefix string) error
	// Check reports whether the store answers and accepts the caller's credentials.
	Check(ctx context.Context) error
	io.Closer
}

// CheckName refuses names that could have a special meaning for a file system or a
// service.
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

// Folder is an [Objects] in a folder, with a file for each object. The file is synced
// before it gets its name, and so are the folders above it.
type Folder struct{ dir string }

var _ Objects = (*Folder)(nil)

// OpenFolder opens a folder, or makes it, readable by its owner alone.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".put-*"))
	if err != nil {
		return nil, fmt.Errorf("open blobs: %w", err)
	}
	for _, name := range left { // left by a crash, unless another process is writing it now
		if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(name) // after an error the next start tries again
		}
	}
	return &Folder{dir}, nil
}

// abandoned is the age from which an unfinished file is assumed to belong to no
// running process.
const abandoned = time.Hour

func (f *Folder) Put(ctx context.Context, name string, r io.Reader) (err error) {
	if err := CheckName(name); err != nil {
		return err
	}
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	tmp, err := os.CreateTemp(f.dir, ".put-*") // not in the final folder, which a Remove may delete while it is empty
	if err != nil {
		return fmt.Errorf("put %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("put %s: %w", name, err)
			_ = os.Remove(tmp.Name()) // no effect if the file got its name
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
	if errors.Is(err, os.ErrNotExist) { // a concurrent Remove deleted the empty folder
		if made, err = f.makeFolders(filepath.Dir(path)); err == nil {
			err = os.Rename(tmp.Name(), path)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncDir(filepath.Dir(path)), made())
}

// makeFolders makes the folders above an object. It returns a function that syncs
// those that may be new.
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

// reader stops reading when its context ends.
type reader struct {
	ctx context.Context // which io.Reader has no room for
	io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

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

func (f *Folder) Delete(_ context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(f.dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// Remove implements [Objects]. It also removes the folders above if they are empty.
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
			break // the folder has other objects
		}
	}
	return nil
}

func (f *Folder) Check(context.Context) error {
	_, err := os.Stat(f.dir)
	return err
}

func (f *Folder) Close() error { return nil }
