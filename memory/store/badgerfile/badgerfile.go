// Package badgerfile reads the files of a Badger v4 database past Badger, which
// ends the process, or waits for ever, on many that were altered.
//
// The words:
//
//   - A table (.sst) is sorted entries in blocks, with an index of the blocks
//     behind them. The table list (MANIFEST) names the tables that count.
//   - A log (.mem, .vlog) is entries in the order in which they were written.
//   - A data key encrypts tables and logs. The key file (KEYREGISTRY) holds the
//     data keys, encrypted under the database's key.
//   - An entry is one version of one key's value, or the mark of its deletion.
//   - A file is sound where it is as Badger wrote it, by its checksums. These find
//     accidents: whoever has the data key can make them fit.
//
// [Check] says whether Badger may open a database. A [Reading] gives the entries of
// a database of which any file may be damaged. [Remnants] gives all that lies in
// one file, with what counts no more.
package badgerfile

import (
	"errors"
	"fmt"
)

// Damage names a file that is not as Badger wrote it.
type Damage struct {
	Kind string // "table file", "log file", "table list", "key file"
	File string // its name in the database's folder
	What string // what is wrong with it, in words
}

// Error implements error.
func (d *Damage) Error() string { return fmt.Sprintf("%s %s: %s", d.Kind, d.File, d.What) }

// ErrKey: the key file is under another key, or was altered where that can't be told.
var ErrKey = errors.New("is under another key")

// own begins the keys that Badger writes for itself.
const own = "!badger!"
