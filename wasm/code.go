package wasm

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// code is the machine code of one module under one bound of memory. Plugins of
// the same module share it: in memory it takes some 10 MB of what is Go, and
// each instance has its own linear memory all the same.
type code struct {
	key  codeKey
	refs int // guarded by Host.codeMu

	mu       sync.Mutex // held while it is made
	compiled wazero.CompiledModule
	info     fuel.Info
}

type codeKey struct {
	sum   [sha256.Size]byte // of the module as it came
	pages int
}

// codeOf gives the code under key, made by make where nobody holds it yet. It
// is held until dropCode.
func (h *Host) codeOf(key codeKey, make func(*code) error) (*code, error) {
	h.codeMu.Lock()
	c := h.codes[key]
	if c == nil {
		c = &code{key: key}
		h.codes[key] = c
	}
	c.refs++
	h.codeMu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled != nil {
		return c, nil
	}
	if err := make(c); err != nil {
		h.forget(c)
		return nil, err
	}
	return c, nil
}

// dropCode lets go of code; whoever is the last frees it.
func (h *Host) dropCode(ctx context.Context, c *code) error {
	if !h.forget(c) {
		return nil
	}
	return c.compiled.Close(ctx)
}

// forget counts one holder less, and reports whether it was the last.
func (h *Host) forget(c *code) bool {
	h.codeMu.Lock()
	defer h.codeMu.Unlock()
	c.refs--
	if c.refs == 0 {
		delete(h.codes, c.key)
	}
	return c.refs == 0
}
