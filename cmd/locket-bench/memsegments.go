package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// memSegments keeps segments in memory, unsealed. It implements recall.Segments.
type memSegments map[string][]byte

func (s memSegments) Put(_ context.Context, name string, b []byte) error {
	s[name] = slices.Clone(b)
	return nil
}

func (s memSegments) Get(_ context.Context, name string) ([]byte, error) {
	if b, ok := s[name]; ok {
		return b, nil
	}
	return nil, fmt.Errorf("%s: %w", name, memory.ErrNotFound)
}

func (s memSegments) List(context.Context) ([]string, error) { return slices.Sorted(maps.Keys(s)), nil }

func (s memSegments) Delete(_ context.Context, name string) error {
	delete(s, name)
	return nil
}
