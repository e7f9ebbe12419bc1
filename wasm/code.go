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

// code is the machine code of one module with one memory limit. Plugins of the same module share
// it: for a module in Go it takes some 10 MB of memory, and each instance still has its own linear
// memory.
type code struct {
	key  codeKey
	refs int // guarded by codes.mu

	mu       sync.Mutex     // held while the code is made
	engine   wazero.Runtime // runtime for this code only
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
	info     fuel.Info
	filed    bool // it is run from a file; see fileCode
}

type codeKey struct {
	sum   [sha256.Size]byte // hash of the original module
	pages int
}

// codes holds the codes that are in use.
type codes struct {
	keep bool       // keep all codes
	mu   sync.Mutex // guards the fields below
	held map[codeKey]*code
}

// shared has the codes of hosts that share theirs.
var shared = struct {
	mu sync.Mutex
	by map[sharedBy]*codes // guarded by mu
}{by: map[sharedBy]*codes{}}

type sharedBy struct {
	cache  string
	engine Engine
}

// codesOf returns where a host holds its codes: its own, or that of all hosts that share its cache
// ([Options.Share]). A host with little memory puts code into files, and shares none.
func codesOf(h *Host) *codes {
	if !h.opt.Share || h.opt.CacheDir == "" || h.opt.NoSpare {
		return &codes{held: map[codeKey]*code{}}
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	by := sharedBy{h.opt.CacheDir, h.engine}
	if shared.by[by] == nil {
		shared.by[by] = &codes{keep: true, held: map[codeKey]*code{}}
	}
	return shared.by[by]
}

// of returns the code under key. If nobody holds it yet, make makes it. It is held until drop.
func (cs *codes) of(key codeKey, make func(*code) error) (*code, error) {
	cs.mu.Lock()
	c := cs.held[key]
	if c == nil {
		c = &code{key: key}
		if cs.keep {
			c.refs++
		}
		cs.held[key] = c
	}
	c.refs++
	cs.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled != nil {
		return c, nil
	}
	if err := make(c); err != nil {
		cs.forget(c)
		return nil, err
	}
	return c, nil
}

// drop releases code; the last holder frees it.
func (cs *codes) drop(ctx context.Context, c *code) error {
	if !cs.forget(c) {
		return nil
	}
	return c.close(ctx)
}

// close frees whatever the code has.
func (c *code) close(ctx context.Context) error {
	err := c.engine.Close(ctx)
	if c.cache != nil {
		err = errors.Join(err, c.cache.Close(ctx))
	}
	c.compiled = nil
	return err
}

// compile turns a panic of the compiler into an error. Input from outside should not cause one, but
// might.
func (c *code) compile(ctx context.Context, rewritten []byte) (m wazero.CompiledModule, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("the compiler panicked: %v", r)
		}
	}()
	return c.engine.CompileModule(ctx, rewritten)
}

// forget counts one holder less, and reports whether it was the last.
func (cs *codes) forget(c *code) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.refs--
	if c.refs == 0 {
		delete(cs.held, c.key)
	}
	return c.refs == 0
}
