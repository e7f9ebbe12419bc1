package transfer

import (
	"context"
	"iter"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/archive"
)

// Store returns that of the open node.
func (a Archives) Store() (*store.Store, func(), error) {
	t, release, err := a.of.Use()
	if err != nil {
		return nil, nil, err
	}
	return t.c.Store, release, nil
}

// PutAside writes an archive to the store as an import does.
func (a Archives) PutAside(ctx context.Context, records iter.Seq2[archive.Record, error]) (store.Blob, error) {
	t, release, err := a.of.Use()
	if err != nil {
		return store.Blob{}, err
	}
	defer release()
	b, _, err := t.putAside(ctx, records)
	return b, err
}
