package journal

import (
	"github.com/locket-dev/locket/memory/store"
)

// pageItems is how many items one note holds. An item takes at most about 100
// bytes.
const pageItems = 500

// pages is a set of items in several notes, because one note may be too small.
type pages[T comparable] struct {
	j    *Journal
	name string
}

func (p pages[T]) note(n int) string { return p.j.note(p.name, number(uint64(n))) }

// each calls f with one page after another until f returns true or an error.
func (p pages[T]) each(tx *store.Tx, f func(n int, items []T) (done bool, err error)) error {
	for n := 0; ; n++ {
		var items []T
		if ok, err := tx.Meta(p.note(n), &items); err != nil || !ok {
			return err
		}
		if done, err := f(n, items); err != nil || done {
			return err
		}
	}
}

func (p pages[T]) all(tx *store.Tx) (all []T, err error) {
	err = p.each(tx, func(_ int, items []T) (bool, error) {
		all = append(all, items...)
		return false, nil
	})
	return all, err
}

// add adds the items that the list lacks.
func (p pages[T]) add(tx *store.Tx, items ...T) error {
	fresh := map[T]bool{}
	for _, i := range items {
		fresh[i] = true
	}
	var kept [][]T
	err := p.each(tx, func(_ int, have []T) (bool, error) {
		kept = append(kept, have)
		for _, i := range have {
			delete(fresh, i)
		}
		return len(fresh) == 0, nil
	})
	if err != nil {
		return err
	}
	for n := 0; len(fresh) > 0; n++ {
		if n == len(kept) {
			kept = append(kept, nil)
		}
		was := len(kept[n])
		for _, i := range items {
			if fresh[i] && len(kept[n]) < pageItems {
				kept[n] = append(kept[n], i)
				delete(fresh, i)
			}
		}
		if len(kept[n]) == was {
			continue
		}
		if err := tx.PutMeta(p.note(n), kept[n]); err != nil {
			return err
		}
	}
	return nil
}

// remove removes the items for which over returns true. A page that becomes
// empty stays.
func (p pages[T]) remove(tx *store.Tx, over func(T) bool) error {
	return p.each(tx, func(n int, items []T) (bool, error) {
		left := []T{}
		for _, i := range items {
			if !over(i) {
				left = append(left, i)
			}
		}
		if len(left) == len(items) {
			return false, nil
		}
		return false, tx.PutMeta(p.note(n), left)
	})
}
