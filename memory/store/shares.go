package store

import (
	"cmp"
	"context"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/internal/sorting"
)

// KindSize is how much space the records of one kind take.
type KindSize struct {
	Kind    string `json:"kind"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"` // of keys and sealed values, with their guards, as Badger writes them
}

// perEntry is what Badger writes for each entry besides key and value, in
// bytes: the lengths of the key, its version, flags, and the entry's offset in
// its block.
const perEntry = 4 + 8 + 3 + 4

// SizeByKind returns how much space each kind of record takes, the greatest first.
// Older versions that are not overwritten yet do not count. It reads every key
// and no value.
func (s *Store) SizeByKind(ctx context.Context) ([]KindSize, error) {
	byKind := map[kind]*KindSize{}
	err := s.View(ctx, func(t *Tx) error {
		opt := badger.DefaultIteratorOptions
		opt.PrefetchValues = false
		it := t.txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			key := it.Item().Key()
			k := kind(key[0])
			if k == kindGuard { // counted with the record that it guards
				continue
			}
			share := byKind[k]
			if share == nil {
				share = &KindSize{Kind: kinds[k].name}
				byKind[k] = share
			}
			share.Records++
			share.Bytes += int64(len(key)) + it.Item().ValueSize() + perEntry
			if k != kindHead {
				share.Bytes += guardKeySize + perEntry + versionSize + 1 + tagSize + int64(len(key)) + macSize
			}
		}
		return nil
	})
	out := make([]KindSize, 0, len(byKind))
	for _, share := range byKind {
		out = append(out, *share)
	}
	sorting.Sort(out, func(a, b KindSize) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Kind, b.Kind))
	})
	return out, err
}
