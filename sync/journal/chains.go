package journal

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// A space has a chain for each incarnation of each member, and a hostile member
// can begin thousands. Chains therefore lie in pages beside the state. A page
// is filled before the next begins, and a transaction writes only the pages
// that changed.

// chainsPage is the number of chains on a page; a chain takes at most 150
// bytes.
const chainsPage = 32

// keptChain is a chain on its page.
type keptChain struct {
	Chain string        `json:"c"`
	At    envelope.Link `json:"a,omitzero"`
	Read  envelope.Link `json:"r,omitzero"` // how far snapshots cover it
}

// whereChains is a cache of the page of each chain. A transaction that failed
// may have left wrong entries, so every user checks the page itself.
type whereChains struct {
	sync.Mutex
	page  map[string]int // nil: not read yet
	total int
}

func (j *Journal) chainsPage(tx *store.Tx, n int) (kept []keptChain, err error) {
	_, err = tx.Meta(j.note("chains", number(uint64(n))), &kept)
	return kept, err
}

// eachChains calls f with each page.
func (j *Journal) eachChains(tx *store.Tx, f func(n int, kept []keptChain)) error {
	for n := 0; ; n++ {
		kept, err := j.chainsPage(tx, n)
		if err != nil || len(kept) == 0 {
			return err
		}
		f(n, kept)
	}
}

// chains returns how far each chain was taken, and how far a snapshot covers
// it.
func (j *Journal) chains(tx *store.Tx) (at, read map[string]envelope.Link, err error) {
	at, read = map[string]envelope.Link{}, map[string]envelope.Link{}
	err = j.eachChains(tx, func(_ int, kept []keptChain) {
		for _, c := range kept {
			if c.At.Seq > 0 {
				at[c.Chain] = c.At
			}
			if c.Read.Seq > 0 {
				read[c.Chain] = c.Read
			}
		}
	})
	return at, read, err
}

// putChains writes the chains that changed in a state.
func (j *Journal) putChains(tx *store.Tx, s *replica.State) error {
	changed := slices.AppendSeq(slices.Collect(s.Chains.Changed()), s.Read.Changed())
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	j.where.Lock()
	defer j.where.Unlock()
	put, err := j.where.put(tx, j, s, changed)
	if err != nil || put {
		return err
	}
	j.where.page, j.where.total = map[string]int{}, 0
	err = j.eachChains(tx, func(n int, kept []keptChain) {
		for _, c := range kept {
			j.where.page[c.Chain] = n
		}
		j.where.total += len(kept)
	})
	if err != nil {
		return err
	}
	if put, err = j.where.put(tx, j, s, changed); err == nil && !put {
		err = fmt.Errorf("pages of chains: %w", memory.ErrDamaged)
	}
	return err
}

// put writes chains to their pages. If the cache is wrong about a page, it
// writes nothing and returns false.
func (w *whereChains) put(tx *store.Tx, j *Journal, s *replica.State, changed []string) (bool, error) {
	if w.page == nil {
		return false, nil
	}
	pages := map[int][]keptChain{}
	page := func(n int) (as bool, err error) {
		if _, is := pages[n]; is {
			return true, nil
		}
		kept, err := j.chainsPage(tx, n)
		pages[n] = kept
		return len(kept) == min(max(w.total-n*chainsPage, 0), chainsPage), err
	}
	if as, err := page(max(w.total-1, 0) / chainsPage); err != nil || !as {
		return false, err
	}
	fresh := map[string]int{}
	for _, chain := range changed {
		is := keptChain{Chain: chain, At: s.Chains.Link(chain), Read: s.Read.Link(chain)}
		n, known := w.page[chain]
		if !known {
			n = (w.total + len(fresh)) / chainsPage
			fresh[chain] = n
		}
		if as, err := page(n); err != nil || !as {
			return false, err
		}
		if !known {
			pages[n] = append(pages[n], is)
			continue
		}
		i := slices.IndexFunc(pages[n], func(c keptChain) bool { return c.Chain == chain })
		if i < 0 {
			return false, nil
		}
		pages[n][i] = is
	}
	for n, kept := range pages {
		if len(kept) == 0 {
			continue
		}
		if err := tx.PutMeta(j.note("chains", number(uint64(n))), kept); err != nil {
			return false, err
		}
	}
	maps.Copy(w.page, fresh)
	w.total += len(fresh)
	return true, nil
}

// dropChains removes all pages.
func (j *Journal) dropChains(tx *store.Tx) error {
	pages, err := store.Collect(tx.MetaNames(j.note("chains") + "/")) // with a gap if a page was lost
	if err != nil {
		return err
	}
	return tx.DeleteMeta(pages...)
}
