package store

import "github.com/locket-dev/locket/memory"

// Note adds a change to a memory's history that follows from no assertion, for
// example that a secret was shown to its owner. It is not synced.
func (t *Tx) Note(c memory.Change) error {
	if t.state == nil {
		return errReadOnly
	}
	return t.putChange(&c, c.Memory)
}
