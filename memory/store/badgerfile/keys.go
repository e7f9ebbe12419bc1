package badgerfile

import (
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
)

// openKeys reads the file of data keys in dir. It first checks the lengths,
// because with some altered files Badger waits for ever or allocates gigabytes.
func openKeys(dir string, disk []byte) (*badger.KeyRegistry, error) {
	if err := checkLengths(filepath.Join(dir, badger.KeyRegistryFileName), "key file", keyFileHeader); err != nil {
		return nil, err
	}
	return badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true, EncryptionKey: disk})
}

// dataKeys returns all keys of a database, and nil for no key. It is for a
// table that no list names, so that its key is unknown.
func dataKeys(keys *badger.KeyRegistry) []*pb.DataKey {
	all := []*pb.DataKey{nil}
	for id := uint64(1); ; id++ {
		k, err := keys.DataKey(id)
		if err != nil {
			return all
		}
		all = append(all, k)
	}
}

// copyOpens reports whether a copy of the key file in another folder can be
// opened with the key. If so, the key is right, and the original was altered.
func copyOpens(copies string, key []byte) bool {
	if _, err := os.Stat(filepath.Join(copies, badger.KeyRegistryFileName)); err != nil {
		return false
	}
	_, err := openKeys(copies, key)
	return err == nil
}
