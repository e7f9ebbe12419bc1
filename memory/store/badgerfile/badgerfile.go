// Package badgerfile reads the files of a Badger v4 database without using
// Badger. It is needed because many altered files make Badger end the process,
// or wait for ever.
//
// The words:
//
//   - A table (.sst) has sorted entries in blocks, with an index of the blocks
//     at the end. The table list (MANIFEST) names the tables in use.
//   - A log (.mem, .vlog) has entries in the order in which they were written.
//   - A data key encrypts tables and logs. The key file (KEYREGISTRY) holds the
//     data keys, encrypted with the database's key.
//   - An entry is one version of a key's value, or the mark that the key was
//     deleted.
//   - A file is sound if its checksums show that it is as Badger wrote it.
//     Checksums detect accidents. They do not detect changes by somebody who
//     has the data key.
//
// [Check] reports whether Badger may open a database. A [Reading] returns the
// entries of a database in which any file may be damaged. [Remnants] returns
// everything in one file, including data that is no longer in use.
package badgerfile

import (
	"errors"
	"fmt"
)

// Damage describes a file that is not as Badger wrote it.
type Damage struct {
	Kind string // "table file", "log file", "table list", "key file"
	File string // its name in the database's folder
	What string // what is wrong with it, in words
}

// Error implements error.
func (d *Damage) Error() string { return fmt.Sprintf("%s %s: %s", d.Kind, d.File, d.What) }

// ErrKey: the key file is encrypted with another key, or was altered in a way
// that looks the same.
var ErrKey = errors.New("is under another key")

// own is the prefix of the keys that Badger uses itself.
const own = "!badger!"
