package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

	mu       sync.Mutex     // held while it is made
	engine   wazero.Runtime // runtime for this code only
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
	info     fuel.Info
	filed    bool // it is run from a file; see fileCode
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
	return c.close(ctx)
}

// close frees what there is of it.
func (c *code) close(ctx context.Context) error {
	err := c.engine.Close(ctx)
	if c.cache != nil {
		err = errors.Join(err, c.cache.Close(ctx))
	}
	c.compiled = nil
	return err
}

// compile turns a panic of the compiler, which outside input must not cause
// but might, into an error.
func (c *code) compile(ctx context.Context, rewritten []byte) (m wazero.CompiledModule, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("the compiler panicked: %v", r)
		}
	}()
	return c.engine.CompileModule(ctx, rewritten)
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
