package extract

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// Reader is a Plugin that is shown memories.
type Reader interface {
	Plugin
	// Reads returns the types of memories that the plugin is shown; none: it is
	// shown nothing.
	Reads() []memory.Type
}

// shownText is how much of a memory's text a plugin is shown, in bytes.
const shownText = 1 << 10

// memoriesFor gives copies of the memories of these types that bear on a text of a user, best
// first. Nobody is given those of another user. Private, secret and vault memories are never among them. The same text and
// the same memories give the same result.
func (x *Extractor) memoriesFor(ctx context.Context, types []memory.Type, text, user string) (list []abi.Memory, err error) {
	types = slices.DeleteFunc(slices.Clone(types), func(t memory.Type) bool { return t == memory.Vault })
	if len(types) == 0 || text == "" {
		return nil, nil
	}
	res, err := x.engine.Search(ctx, recall.Query{Text: text, K: 2 * abi.MaxMemories, Kinds: []recall.Kind{recall.Memory}, Types: types, Now: x.engine.Clock().Tick().Time()})
	if err != nil {
		return nil, fmt.Errorf("memories for a plugin: %w", err)
	}
	err = x.engine.View(ctx, func(tx *store.Tx) error {
		for _, h := range res.Hits {
			m, err := tx.Memory(h.ID)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if m.State != memory.Active || m.Type == memory.Vault || m.Sensitivity > memory.Personal || m.Owner.User != cmp.Or(memory.OtherUser(user), x.cfg.Owner) {
				continue
			}
			if list = append(list, abi.Memory{ID: m.ID.String(), Type: string(m.Type), At: m.Learnt.UnixMilli(), Text: memory.Cut(m.Text, shownText)}); len(list) == abi.MaxMemories {
				break
			}
		}
		return nil
	})
	return list, err
}
