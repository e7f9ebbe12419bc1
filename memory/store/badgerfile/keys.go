package badgerfile

import (
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
)

// openKeys reads the file of data keys in dir. Badger waits for ever, or asks
// for gigabytes, on some that were altered: lengths are looked at first.
func openKeys(dir string, disk []byte) (*badger.KeyRegistry, error) {
	if err := checkLengths(filepath.Join(dir, badger.KeyRegistryFileName), "key file", keyFileHeader); err != nil {
		return nil, err
	}
	return badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true, EncryptionKey: disk})
}

// dataKeys are all keys of a database, and none: of a table that no list names
// it is not known which is its own.
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

// copyOpens reports whether a copy of the key file in another folder opens under
// the key: then it is the original that was altered, and the key is the right one.
func copyOpens(copies string, key []byte) bool {
	if _, err := os.Stat(filepath.Join(copies, badger.KeyRegistryFileName)); err != nil {
		return false
	}
	_, err := openKeys(copies, key)
	return err == nil
}
