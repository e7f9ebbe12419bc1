package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/filelock"
)

// Place stores the files of a backup under the names that FORMAT gives. Only one caller at a time
// may use its methods.
type Place interface {
	// Read returns a file's content. The error is fs.ErrNotExist if there is none.
	Read(ctx context.Context, name string) ([]byte, error)
	// Write makes a file, or replaces it. After an error the file is as it was, or
	// has the new content. If the file was read, and somebody else has changed it
	// since, the error may be ErrMeanwhile.
	Write(ctx context.Context, name string, b []byte) error
	// List returns the names and sizes in bytes of all files.
	List(ctx context.Context) (map[string]int64, error)
	// Remove removes a file. It is no error if there is none.
	Remove(ctx context.Context, name string) error
	// Lock excludes other processes of this machine until release. The error is one of filelock.
	// A place that this process can't write is not locked.
	Lock() (release func() error, err error)
}

// scheme matches the beginning of a URL, including mistyped ones. A Windows drive has one letter.
var scheme = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9+.-]+:/*|[sS]3//)`)

// ParsePlace returns the place that a person names: a folder, or s3://BUCKET/PREFIX in the form that
// [openS3] reads. home is that of the node, which has the lock for a bucket.
func ParsePlace(name, home string, environ func(string) string) (Place, error) {
	if strings.HasPrefix(name, s3Scheme) {
		return openS3(name, filepath.Join(home, "backup.lock"), environ)
	}
	if begins := scheme.FindString(name); begins != "" {
		return nil, fmt.Errorf("backup: %s: want a folder, or s3://BUCKET/PREFIX; a folder whose name begins so is ./%s…", begins, begins)
	}
	return folder(name), nil
}

// Outside refuses a place for a new backup that is in the home, because it would be lost with the
// home. Neither has to exist yet.
func Outside(name, home string) error {
	if scheme.MatchString(name) {
		return nil
	}
	rel, err := filepath.Rel(followed(home), followed(name))
	if err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("backup: %s lies in the home, %s, and would be lost with it: choose a folder elsewhere, best on another disk", name, home)
	}
	return nil // on Windows a path on another drive is never inside
}

// followed returns the absolute path of a file. It follows the links in the part of the path that
// exists.
func followed(path string) string {
	path, rest := filepath.Clean(path), ""
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for at := path; ; at = filepath.Dir(at) {
		if to, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(to, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// ShownName returns the name of a place without its parameters.
func ShownName(name string) string {
	if strings.HasPrefix(name, s3Scheme) {
		name, _, _ = strings.Cut(name, "?")
	}
	return name
}

// folder is a place in a file system.
type folder string

const lockName = "lock"

func (f folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

func (f folder) Read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(f.path(name))
}

func (f folder) Write(_ context.Context, name string, b []byte) error {
	if err := atomicfile.MkdirAll(filepath.Dir(f.path(name))); err != nil {
		return err
	}
	return atomicfile.Write(f.path(name), b)
}

func (f folder) List(context.Context) (map[string]int64, error) {
	all := map[string]int64{}
	err := filepath.WalkDir(string(f), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(string(f), path)
		all[filepath.ToSlash(name)] = info.Size()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	delete(all, lockName)
	return all, err
}

func (f folder) Remove(_ context.Context, name string) error {
	if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f folder) Lock() (func() error, error) {
	l, err := filelock.Take(f.path(lockName))
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		return func() error { return nil }, nil // it can be read, and writing fails
	}
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}
