package installed

import (
	"path/filepath"

	"github.com/locket-dev/locket/wasm/trust"
)

// Problem is a file of the folder that is not as it was written.
type Problem struct {
	Name  string // of the file, or of the plugin
	Entry *Entry // of a plugin; nil for a file of the folder's own
	Err   error
}

// Check reads everything that the record names, and changes nothing. Files that
// were put there by hand have no sum to hold them against.
func Check(dir string) []Problem {
	f, err := load(dir)
	if err != nil {
		name := recordFile
		if _, e := trust.OpenBook(filepath.Join(dir, pinsFile)); e != nil {
			name, err = pinsFile, e
		}
		return []Problem{{Name: name, Err: err}}
	}
	var found []Problem
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
