package node

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/locket-dev/locket/memory/store"
)

// The prefixes of segment names in the store: each index has its own.
const (
	wordsPrefix   = ""       // the full-text index
	meaningPrefix = "dense/" // the index of vectors
)

// segments is recall.Segments over the store, which seals them. They may be written
// even below the disk's reserve, because forgotten texts have to leave them.
type segments struct {
	store  *store.Store
	prefix string
}

func (s segments) Put(ctx context.Context, name string, b []byte) error {
	return s.store.UpdateInReserve(ctx, func(tx *store.Tx) error { return tx.PutSegment(s.prefix+name, 0, b) })
}

func (s segments) Get(ctx context.Context, name string) (b []byte, err error) {
	err = s.store.View(ctx, func(tx *store.Tx) error {
		_, r, err := tx.Segment(s.prefix + name)
		if err != nil {
			return err
		}
		defer r.Close()
		if b, err = io.ReadAll(r); err != nil {
			return fmt.Errorf("read segment %s: %w", s.prefix+name, err)
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
			name, mine := strings.CutPrefix(seg.Name, s.prefix)
			if mine && (s.prefix != wordsPrefix || !strings.HasPrefix(name, meaningPrefix)) {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

func (s segments) Delete(ctx context.Context, name string) error {
	return s.store.UpdateInReserve(ctx, func(tx *store.Tx) error { return tx.DeleteSegment(s.prefix + name) })
}
