package journal

import (
	"github.com/locket-dev/locket/memory/store"
)

// pageItems is how many items stand in one note, of at most some 100 bytes each.
const pageItems = 500

// pages is a list that may be longer than a note can be: it lies in several. None
// of its items is there twice.
type pages[T comparable] struct {
	l    *Ledger
	name string
}

func (p pages[T]) note(n int) string { return p.l.note(p.name, number(uint64(n))) }

// each calls f with the pages, until it gives true, or an error.
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

// add puts items on the list that are not there.
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

// drop takes those off the list that are over. A page stays, if it is empty.
func (p pages[T]) drop(tx *store.Tx, over func(T) bool) error {
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
