package store

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// spareName is a folder beside the records with a copy of Badger's file of data
// keys, which has some hundred bytes. Without this file no other file can be
// read. The copy is encrypted with the disk key, like the original.
const spareName = "spare"

// keepSpare updates the copy.
func (s *Store) keepSpare() error {
	now, err := os.ReadFile(filepath.Join(s.opt.Dir, recordsName, badger.KeyRegistryFileName))
	if err != nil {
		return err
	}
	path := filepath.Join(s.opt.Dir, spareName, badger.KeyRegistryFileName)
	was, err := os.ReadFile(path)
	if err == nil && bytes.Equal(was, now) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.Write(path, now)
}
