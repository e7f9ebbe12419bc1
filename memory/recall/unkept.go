package recall

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// Unkept implements [Segments] for an index that is only in memory: it keeps nothing.
type Unkept struct{}

// Put implements Segments.
func (Unkept) Put(context.Context, string, []byte) error { return nil }

// Get implements Segments.
func (Unkept) Get(_ context.Context, name string) ([]byte, error) {
	return nil, fmt.Errorf("segment %s: %w", name, memory.ErrNotFound)
}

// List implements Segments.
func (Unkept) List(context.Context) ([]string, error) { return nil, nil }

// Delete implements Segments.
func (Unkept) Delete(context.Context, string) error { return nil }
