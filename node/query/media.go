package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Media implements serve.MediaReader.
func (rd Reader) Media(ctx context.Context, id memory.ID) (out serve.Media, err error) {
	m, err := rd.Get(ctx, id)
	if err != nil {
		return out, err
	}
	if m.Fields.Resource == nil || m.Fields.Resource.Blob == "" {
		return out, fmt.Errorf("%w: %s has no recording or picture", memory.ErrNotFound, id)
	}
	name, err := memory.ParseID(m.Fields.Resource.Blob)
	if err != nil {
		return out, fmt.Errorf("%w: %s: its recording or picture has no name: %v", memory.ErrDamaged, id, err)
	}
	out.Type = m.Fields.Resource.MediaType
	err = rd.openMedia(ctx, name, &out)
	if !errors.Is(err, memory.ErrNotFound) {
		return out, err
	}
	switch err := rd.fetchBlob(ctx, name); {
	case errors.Is(err, serve.ErrUnsupported), errors.Is(err, memory.ErrNotFound):
		return out, fmt.Errorf("%w: the recording or picture of %s is no longer kept", memory.ErrNotFound, id)
	case err != nil && ctx.Err() == nil:
		return out, fmt.Errorf("%w: the recording or picture of %s lies on another device: %v", serve.ErrRelay, id, err)
	case err != nil:
		return out, err
	}
	return out, rd.openMedia(ctx, name, &out)
}

func (rd Reader) openMedia(ctx context.Context, name memory.ID, out *serve.Media) error {
	return opened.View(ctx, rd.of, func(_ *Query, tx *store.Tx) error {
		b, err := tx.OpenBlob(name)
		if err == nil {
			out.Body, out.Size = b, b.Size()
		}
		return err
	})
}
