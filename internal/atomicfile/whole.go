// Package atomicfile writes files that are there whole or not at all, after a crash
// of the process and after a loss of power: the bytes are written beside the
// file and synced, the name is moved onto them, and the folder is synced.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces path by b. The file has mode 0600 and the folder must be
// there. After an error path is what it was, or, where only the folder's sync
// failed, what it is to be. Two writers of one path at a time leave the bytes
// of one of them.
func Write(path string, b []byte) error {
	return Stream(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Stream is Write for what is not in memory: it replaces path by what write
// writes, and leaves it as it was where write fails.
func Stream(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), Prefix+"*") // 0600
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = write(w)
	if err == nil {
		err = errors.Join(w.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(path))
}

// Prefix begins the name of a file that is being written, or that a crash
// left behind.
const Prefix = ".new-"

// MkdirAll makes a folder of mode 0700 with those above it, where they are not
// there, and has their names last. It syncs the folder above dir in any case:
// who made dir may have been killed before.
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
