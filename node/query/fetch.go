package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Fetch implements serve.MediaReader.
func (rd Reader) Fetch(ctx context.Context, id memory.ID) (f serve.Fetched, err error) {
	var name memory.ID
	here := func() (bool, error) {
		err := opened.View(ctx, rd.of, func(_ *Query, tx *store.Tx) error {
			m, err := engine.Live(tx, id)
			if err != nil {
				return err
			}
			if m.Fields.Resource == nil || m.Fields.Resource.Blob == "" {
				return fmt.Errorf("%w: id: %s has no photo or recording", memory.ErrInvalid, id)
			}
			if name, err = memory.ParseID(m.Fields.Resource.Blob); err != nil {
				return err
			}
			b, err := tx.OpenBlob(name)
			if err != nil {
				return err
			}
			f = serve.Fetched{ID: id, Blob: name, Size: b.Size()}
			return b.Close()
		})
		if !name.IsZero() && errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	if ok, err := here(); ok || err != nil {
		return f, err
	}
	if err := rd.fetchBlob(ctx, name); err != nil {
		return f, err
	}
	ok, err := here()
	f.New = ok
	return f, err
}
