// Package atomicfile writes files that are either complete or absent, even
// after a crash of the process or a power failure. It writes the bytes to
// another file and syncs it, renames that file, and syncs the folder.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces path by b. The file has mode 0600, and the folder must exist.
// After an error, which names path, path is unchanged; if only the sync of the folder failed, it
// has the new content. If two callers write the same path, one of their
// contents is left. If path is a link to a file, that file is replaced.
func Write(path string, b []byte) error {
	return Stream(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Stream is Write for content that is not in memory: it replaces path by the
// output of write. If write fails, path is unchanged.
func Stream(path string, write func(io.Writer) error) error {
	if file, err := filepath.EvalSymlinks(path); err == nil { // otherwise it does not exist yet
		path = file
	}
	return place(path, os.Rename, func(f *os.File) error {
		w := bufio.NewWriter(f)
		if err := write(w); err != nil {
			return err
		}
		return w.Flush()
	})
}

// Create writes a file that must not exist yet, else it returns fs.ErrExist. The file
// has mode 0600, and the folder must exist. Of callers that create the same path at
// the same time one succeeds, and nobody ever sees a part of its content.
func Create(path string, b []byte) error {
	return place(path, os.Link, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// place writes another file beside path, syncs it, and has move give it its name.
func place(path string, move func(from, to string) error, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), Prefix+"*") // 0600
	if err != nil {
		return Fault(path, err)
	}
	defer os.Remove(f.Name()) // once it is renamed there is none
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == f.Name() {
			e.Path = path
		}
		return err
	}
	if err := move(f.Name(), path); err != nil {
		return Fault(path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// Fault is an error of a system call that was to make the file path. It names path, and not
// a file beside it, and says so if the folder is not there, or path is a folder.
func Fault(path string, err error) error {
	dir := filepath.Dir(path)
	if _, absent := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && errors.Is(absent, fs.ErrNotExist) {
		return &fs.PathError{Op: "write", Path: path, Err: noFolder(dir)}
	}
	if there, _ := os.Stat(path); errors.Is(err, fs.ErrExist) && there != nil && there.IsDir() {
		return &fs.PathError{Op: "write", Path: path, Err: isFolder{}}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		err = e.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
}

// noFolder is a folder that is not there.
type noFolder string

func (d noFolder) Error() string        { return "there is no folder " + string(d) }
func (d noFolder) Is(target error) bool { return target == fs.ErrNotExist }

// isFolder is a folder where a file was to be.
type isFolder struct{}

func (isFolder) Error() string        { return "it is a folder" }
func (isFolder) Is(target error) bool { return target == fs.ErrExist }

// Prefix is the beginning of the name of a file that is being written, or that
// a crash has left.
const Prefix = ".new-"

// MkdirAll makes a folder of mode 0700, and its parents, if they do not exist,
// and makes their names durable. It always syncs the folder above dir, because
// the process that made dir may have been killed before it did.
func MkdirAll(dir string) error {
	parent := filepath.Dir(filepath.Clean(dir))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) {
			if err := MkdirAll(parent); err != nil {
				return err
			}
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: errNotDir}
	}
	return SyncDir(parent)
}

var errNotDir = errors.New("not a folder")
