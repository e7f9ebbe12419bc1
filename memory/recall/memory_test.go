package recall

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// shelf is Segments in memory.
type shelf struct {
	mu sync.Mutex
	m  map[string][]byte
}

func newShelf() *shelf { return &shelf{m: map[string][]byte{}} }

func (s *shelf) Put(_ context.Context, name string, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[name] = slices.Clone(b)
	return nil
}

func (s *shelf) Get(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.m[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, memory.ErrNotFound)
	}
	return slices.Clone(b), nil
}

func (s *shelf) List(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.m)), nil
}

func (s *shelf) Delete(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, name)
	return nil
}
