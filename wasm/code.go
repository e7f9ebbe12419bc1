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
	refs int // guarded by codes.mu

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

// codes are the codes that somebody holds.
type codes struct {
	keep bool       // all that was made
	mu   sync.Mutex // guards what follows
	held map[codeKey]*code
}

// shared are the codes of hosts that share theirs.
var shared = struct {
	mu sync.Mutex
	by map[sharedBy]*codes // guarded by mu
}{by: map[sharedBy]*codes{}}

type sharedBy struct {
	cache  string
	engine Engine
}

// codesOf gives what a host holds code in: its own, or that of all hosts that
// share its cache ([Options.Share]). A host that does with little puts code into
// files, and shares none.
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

// of gives the code under key, made by make where nobody holds it yet. It is
// held until drop.
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

// drop lets go of code; whoever is the last frees it.
func (cs *codes) drop(ctx context.Context, c *code) error {
	if !cs.forget(c) {
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
func (cs *codes) forget(c *code) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c.refs--
	if c.refs == 0 {
		delete(cs.held, c.key)
	}
	return c.refs == 0
}
