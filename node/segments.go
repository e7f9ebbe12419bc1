package node

import (
	"context"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory/store"
)

// segments is recall.Segments over the store, which seals them.
type segments struct{ store *store.Store }

func (s segments) Put(ctx context.Context, name string, b []byte) error {
	return s.store.Update(ctx, func(tx *store.Tx) error { return tx.PutSegment(name, 0, b) })
}

func (s segments) Get(ctx context.Context, name string) (b []byte, err error) {
	err = s.store.View(ctx, func(tx *store.Tx) error {
		_, r, err := tx.Segment(name)
		if err != nil {
			return err
		}
		defer r.Close()
		if b, err = io.ReadAll(r); err != nil {
			return fmt.Errorf("read segment %s: %w", name, err)
		}
		return nil
	})
	return b, err
}

func (s segments) List(ctx context.Context) (names []string, err error) {
	err = s.store.View(ctx, func(tx *store.Tx) error {
		for seg, err := range tx.Segments() {
			if err != nil {
				return err
			}
			names = append(names, seg.Name)
		}
		return nil
	})
	return names, err
}

func (s segments) Delete(ctx context.Context, name string) error {
	return s.store.Update(ctx, func(tx *store.Tx) error { return tx.DeleteSegment(name) })
}
