package installed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/wasm/trust"
)

// Files returns the paths of the record and the pins.
func Files(dir string) []string {
	return []string{filepath.Join(dir, recordFile), filepath.Join(dir, pinsFile)}
}

// Renew writes an empty record and empty pins, sealed, if there are none.
func Renew(dir string, key atomicfile.Sealer) error {
	f := &Folder{dir: dir, key: key}
	if _, err := os.Lstat(filepath.Join(dir, recordFile)); errors.Is(err, fs.ErrNotExist) {
		if err := f.save(record{Version: 1}); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, pinsFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	pins, err := trust.OpenBook(filepath.Join(dir, pinsFile), key)
	if err != nil {
		return err
	}
	return pins.Forget("")
}
