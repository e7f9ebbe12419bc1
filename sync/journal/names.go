package journal

import (
	"slices"

	"github.com/locket-dev/locket/memory/store"
)

// maxNames is how many names of blobs stand in one list. Of alike ones there may be
// any number, as of a silence that is recorded each day, and whoever writes can say
// so many more; a list that is full ends in andOthers, and then the notes themselves
// have to be looked through.
const (
	maxNames  = 256
	andOthers = ""
)

// namesOf gives the names on a list; all: it has all that belong there.
func namesOf(tx *store.Tx, list string) (names []string, all bool, err error) {
	if _, err := tx.Meta(list, &names); err != nil {
		return nil, false, err
	}
	all = !slices.Contains(names, andOthers)
	return slices.DeleteFunc(names, func(n string) bool { return n == andOthers }), all, nil
}

// addTo puts a name into a list of names.
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

// removeFrom takes a name out of a list, which goes with the last.
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
