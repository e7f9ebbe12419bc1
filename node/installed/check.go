package installed

import (
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/wasm/trust"
)

// Problem is a damaged or altered file of the folder.
type Problem struct {
	Name  string // name of the file, or of the plugin
	Entry *Entry // the plugin's entry; nil for one of the folder's own files
	Err   error
}

// Check reads everything that the record names, and changes nothing. Files that
// were copied there by hand have no checksum. Without a key, as while the home
// is locked, it finds damage, but not a file that was changed together with its
// checksum.
func Check(dir string, key atomicfile.Sealer) []Problem {
	var found []Problem
	f := &Folder{dir: dir, key: key}
	if err := f.readRecord(); err != nil {
		found = append(found, Problem{Name: recordFile, Err: err})
	}
	if _, err := trust.OpenBook(filepath.Join(dir, pinsFile), key); err != nil {
		found = append(found, Problem{Name: pinsFile, Err: err})
	}
	if found != nil {
		return found
	}
	if _, err := load(dir, key); err != nil {
		return []Problem{{Name: pinsFile, Err: err}}
	}
	for _, e := range f.List() {
		_, _, err := f.ManifestOf(e)
		if err == nil {
			_, err = f.Module(e)
		}
		if err != nil {
			found = append(found, Problem{e.ID, &e, err})
		}
	}
	return found
}
