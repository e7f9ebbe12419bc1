package ledger

import (
	"context"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// maxBlob is how many sealed bytes a blob has at most, as at a relay.
const maxBlob = 1 << 30

// Blobs gives every blob of the space that was sent, by this member or by
// others, with how many sealed bytes it has at most.
func (l *Ledger) Blobs(ctx context.Context) (map[envelope.Hash]int64, error) {
	out := map[envelope.Hash]int64{}
	err := l.view(ctx, func(tx *store.Tx) error {
		for name, err := range tx.MetaNames(l.note("blob") + "/") {
			if err != nil {
				return err
			}
			var b delta.Blob
			if ok, err := tx.Meta(name, &b); err != nil {
				return err
			} else if ok {
				out[b.Sealed] = int64(min(b.Size, maxBlob))
			}
		}
		for name, err := range tx.MetaNames(l.note("sent") + "/") {
			if err != nil {
				return err
			}
			var m manifest
			if _, err := tx.Meta(name, &m); err != nil {
				return err
			}
			for _, b := range m.Blobs {
				out[b.Sealed] = maxBlob
			}
		}
		return nil
	})
	return out, err
}
