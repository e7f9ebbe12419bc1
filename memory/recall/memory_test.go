package recall

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"
)

// memSegments implements Segments in memory.
type memSegments struct {
	mu sync.Mutex
	m  map[string][]byte
}

func newSegments() *memSegments { return &memSegments{m: map[string][]byte{}} }

func (s *memSegments) Put(_ context.Context, name string, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[name] = slices.Clone(b)
	return nil
}

func (s *memSegments) Get(_ context.Context, name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.m[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, memory.ErrNotFound)
	}
	return slices.Clone(b), nil
}

func (s *memSegments) List(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.m)), nil
}

func (s *memSegments) Delete(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, name)
	return nil
}
