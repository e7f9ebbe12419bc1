package query

import (
	"context"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/store"
)

// maxUses is the number of memories whose uses are counted: those that were used
// last.
const maxUses = 4096

const usesMeta = "uses"

// uses counts how often a memory was given out. The counts stay on this device, and
// are written in quiet moments. If a crash loses a few, some memories only seem a
// little less useful.
type uses struct {
	mu  sync.Mutex                    // guards new
	new map[memory.ID]consolidate.Use // counts since the last write
}

func (u *uses) note(id memory.ID, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.new == nil {
		u.new = map[memory.ID]consolidate.Use{}
	}
	u.new[id] = consolidate.Use{Count: u.new[id].Count + 1, Last: at.UTC()}
}

// UsesKept reads the stored counts.
func UsesKept(tx *store.Tx) (map[memory.ID]consolidate.Use, error) {
	all := map[memory.ID]consolidate.Use{}
	var list []keptUse
	_, err := tx.Meta(usesMeta, &list)
	for _, k := range list {
		all[k.ID] = k.Use
	}
	return all, err
}

type keptUse struct {
	ID  memory.ID       `json:"i"`
	Use consolidate.Use `json:"u"`
}

// SaveUses writes the counts.
func (qr *Query) SaveUses(ctx context.Context) error {
	qr.uses.mu.Lock()
	fresh := qr.uses.new
	qr.uses.new = nil
	qr.uses.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	return qr.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		all, err := UsesKept(tx)
		if err != nil {
			return err
		}
		for id, u := range fresh {
			all[id] = consolidate.Use{Count: all[id].Count + u.Count, Last: u.Last}
		}
		list := make([]keptUse, 0, len(all))
		for id, u := range all {
			if m, err := tx.Memory(id); err == nil && m.State != memory.Erased {
				list = append(list, keptUse{id, u})
			}
		}
		sorting.Sort(list, func(a, b keptUse) int { return b.Use.Last.Compare(a.Use.Last) })
		return tx.PutMeta(usesMeta, list[:min(maxUses, len(list))])
	})
}
