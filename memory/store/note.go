package store

import "github.com/locket-dev/locket/memory"

// Note adds a line to a memory's history that follows from no assertion: that
// a secret was shown to its owner. It stays on this replica.
func (t *Tx) Note(c memory.Change) error {
	if t.state == nil {
		return errReadOnly
	}
	return t.putChange(&c, c.Memory)
}
