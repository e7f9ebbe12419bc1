package vault

import (
	"context"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// VaultLog implements serve.Vault.
func (op Opener) VaultLog(ctx context.Context, limit int) (v serve.VaultLogAnswer, err error) {
	err = opened.View(ctx, op.of, func(_ *Vault, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Vault}}) {
			if err != nil {
				return err
			}
			history, err := tx.History(m.ID)
			if err != nil {
				return err
			}
			for _, c := range history {
				switch {
				case c.Reason != memory.SecretShown || m.Fields.Vault == nil:
				case c.By == exported:
					if c.At.After(v.Exported) {
						v.Exported = c.At
					}
				default:
					v.Reads = append(v.Reads, serve.VaultRead{At: c.At, ID: m.ID, Label: m.Fields.Vault.Label, EntryType: m.Fields.Vault.EntryType, By: c.By})
				}
			}
		}
		return nil
	})
	sorting.Stable(v.Reads, func(a, b serve.VaultRead) int { return b.At.Compare(a.At) })
	v.Reads = v.Reads[:min(limit, len(v.Reads))]
	return v, err
}
