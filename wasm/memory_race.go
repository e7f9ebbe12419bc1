//go:build race && linux

package wasm

import (
	"context"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// withOwnMemory has the memory of a module mapped outside of Go's heap. Otherwise the race detector
// follows each copy that is made while a module's memory grows, for a quarter of the time of the
// node's tests. It finds nothing there, as one goroutine at a time uses an instance.
func withOwnMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(func(_, most uint64) experimental.LinearMemory {
		b, err := unix.Mmap(-1, 0, int(most), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			panic(err) // as Go does when its heap can't grow
		}
		return &ownMemory{b}
	}))
}

type ownMemory struct{ all []byte }

func (m *ownMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.all)) {
		return nil
	}
	return m.all[:size:size]
}

func (m *ownMemory) Free() {
	if err := unix.Munmap(m.all); err != nil {
		panic(err)
	}
}
