package journal

import (
	"slices"

	"github.com/locket-dev/locket/memory/store"
)

// maxNames is how many names of blobs one list can have. Any number of blobs
// can be equal, for example silence that is recorded each day, and any writer
// can name many more. A full list ends in andOthers, and the rest is found by
// a search through all notes.
const (
	maxNames  = 256
	andOthers = ""
)

// namesOf returns the names on a list. all reports whether the list is
// complete.
func namesOf(tx *store.Tx, list string) (names []string, all bool, err error) {
	if _, err := tx.Meta(list, &names); err != nil {
		return nil, false, err
	}
	all = !slices.Contains(names, andOthers)
	return slices.DeleteFunc(names, func(n string) bool { return n == andOthers }), all, nil
}

// addTo adds a name to a list.
func addTo(tx *store.Tx, list, name string) error {
	var names []string
	if _, err := tx.Meta(list, &names); err != nil || slices.Contains(names, name) {
		return err
	}
	if len(names) >= maxNames {
		if name = andOthers; slices.Contains(names, name) {
			return nil
		}
	}
	return tx.PutMeta(list, append(names, name))
}

// removeFrom removes a name from a list, and the list if it is then empty.
func removeFrom(tx *store.Tx, list, name string) error {
	var names []string
	if ok, err := tx.Meta(list, &names); err != nil || !ok {
		return err
	}
	if names = slices.DeleteFunc(names, func(n string) bool { return n == name }); len(names) > 0 {
		return tx.PutMeta(list, names)
	}
	return tx.DeleteMeta(list)
}
