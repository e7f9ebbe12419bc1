package store

import (
	"bytes"
	"maps"
	"sync"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// abouts records about which memories a plugin has asserted something. All assertions are read only
// once for each plugin that is asked about.
type abouts struct {
	mu sync.Mutex // guards of and everything in it
	of map[string]*about
}

// about is what is kept for one plugin.
type about struct {
	since uint64             // moment from which on writes are recorded
	whole bool               // earlier writes were read, too
	ids   map[memory.ID]bool // some of them may be erased or cold by now
}

// wrote records the assertions that a transaction writes. It is called before and after the commit,
// so that a reader that begins to record in between misses neither.
func (a *abouts) wrote(p *pending) {
	records := p.kinds[kindAssertion]
	if len(records) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for plugin, kept := range a.of {
		for key, w := range records {
			if !w.deleted && bytes.Contains(w.plain, []byte(plugin)) {
				kept.ids[memory.ID([]byte(key[1:1+idSize]))] = true
			}
		}
	}
}

// begin starts recording for a plugin, if t sees everything until now.
func (a *abouts) begin(t *Tx, plugin string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := t.store.db.NewTransaction(false)
	defer now.Discard()
	if k := a.of[plugin]; now.ReadTs() != t.Revision() || k != nil && (k.whole || k.since <= t.Revision()) {
		return
	}
	if a.of == nil {
		a.of = map[string]*about{}
	}
	a.of[plugin] = &about{since: t.Revision(), ids: map[memory.ID]bool{}}
}

// About returns the memories of which a plugin has asserted something, in the order
// of their ids. The first time it reads all assertions, and decodes only those that have
// the plugin's name.
func (t *Tx) About(plugin string) ([]memory.ID, error) {
	if t.state != nil { // this transaction's own changes are not recorded yet
		return t.assertedBy(keyOf(kindAssertion), plugin)
	}
	a := &t.store.abouts
	a.mu.Lock()
	var kept []memory.ID
	k := a.of[plugin]
	whole := k != nil && k.whole
	if whole {
		kept = sorting.Sorted(maps.Keys(k.ids), func(x, y memory.ID) int { return bytes.Compare(x[:], y[:]) })
	}
	a.mu.Unlock()
	if !whole {
		a.begin(t, plugin)
		out, err := t.assertedBy(keyOf(kindAssertion), plugin)
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if k := a.of[plugin]; k != nil && !k.whole && t.Revision() >= k.since {
			for _, id := range out {
				k.ids[id] = true
			}
			k.whole = true
		}
		return out, nil
	}
	var out []memory.ID
	for _, id := range kept {
		is, err := t.assertedBy(keyOf(kindAssertion, id[:]), plugin)
		if err != nil {
			return nil, err
		}
		out = append(out, is...)
	}
	return out, nil
}

// assertedBy reads the assertions whose keys have a prefix.
func (t *Tx) assertedBy(prefix []byte, plugin string) (out []memory.ID, err error) {
	for e, err := range t.scan(prefix, nil, false) {
		if err != nil {
			return nil, err
		}
		id := memory.ID(e.key[1 : 1+idSize])
		if len(out) > 0 && out[len(out)-1] == id || !bytes.Contains(e.plain, []byte(plugin)) {
			continue
		}
		r, err := decode[assertionRecord](e.key, e.plain)
		if err != nil {
			return nil, err
		}
		if r.Assertion.Source.Plugin == plugin {
			out = append(out, id)
		}
	}
	return out, nil
}
