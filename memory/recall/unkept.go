package recall

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// InMemory implements [Segments] for an index that is only in memory: it keeps nothing.
type InMemory struct{}

// Put implements Segments.
func (InMemory) Put(context.Context, string, []byte) error { return nil }

// Get implements Segments.
func (InMemory) Get(_ context.Context, name string) ([]byte, error) {
	return nil, fmt.Errorf("segment %s: %w", name, memory.ErrNotFound)
}

// List implements Segments.
func (InMemory) List(context.Context) ([]string, error) { return nil, nil }

// Delete implements Segments.
func (InMemory) Delete(context.Context, string) error { return nil }
