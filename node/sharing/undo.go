package sharing

import (
	"cmp"
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/revert"
	"github.com/locket-dev/locket/node/serve"
)

// undo takes back what machines said about one memory, or about the one that ended it,
// so that the ended memory is valid again. unrevert with the result's id restores it.
func (sh *Sharing) undo(ctx context.Context, r serve.RevertRequest) (v serve.Reverted, err error) {
	if v.Until = r.Until; v.Until.IsZero() {
		v.Until = sh.c.Now().UTC()
	}
	if _, err := sh.c.Cold.Fetch(ctx, r.Memory); err != nil {
		return v, err
	}
	var c revert.Criteria
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) error {
		m, err := ending(tx, r.Memory)
		if err != nil {
			return err
		}
		as, err := tx.Assertions(m.ID)
		if err != nil {
			return err
		}
		c.Memory = m.ID
		claims := revert.Claims(as, c)
		if stays := revert.StayReason(as, claims); stays != "" {
			return fmt.Errorf("memory %s: %w: %s: correct it, or delete it", m.ID, serve.ErrConflict, stays)
		}
		v.Memories = append(v.Memories, revertedOf(m, as, claims))
		v.Claims = len(claims)
		return nil
	})
	if err != nil || r.Plan {
		return v, err
	}
	v.ID = cmp.Or(r.ID, newID())
	lock := sh.c.Engine.AcquireWriter()
	defer lock.Release()
	return v, lock.Commit(ctx, func(tx *store.Tx) error { return sh.takeBack(tx, v.ID, v.Memories, c) })
}

// ending returns the memory that ended another. If nothing has ended a memory, it
// returns the memory itself.
func ending(tx *store.Tx, id memory.ID) (*memory.Memory, error) {
	m, err := tx.Memory(id)
	if err != nil || m.State != memory.Superseded || m.Negates {
		return m, err
	}
	if !m.Into.IsZero() {
		return tx.Memory(m.Into)
	}
	for o, err := range tx.Memories(store.Filter{}) {
		if err != nil {
			return nil, err
		}
		if o.Negates && o.Into == id {
			return o, nil
		}
	}
	return nil, fmt.Errorf("memory %s: %w: what ended it is not known here", id, serve.ErrConflict)
}
