package wasm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// Engine is how wazero runs a module on this machine.
type Engine string

const (
	Compiler    Engine = "compiler"    // machine code: amd64, arm64
	Interpreter Engine = "interpreter" // arm, riscv64 and others: 41 to 130 times slower
)

// FuelRules is the version of the rules by which fuel is counted: under the same rules, a module
// and an event always cost the same.
const FuelRules = fuel.Version

// interpreterScale is how much longer a call may take if wazero interprets.
const interpreterScale = 100

// Options of a Host. The zero value works: nothing is cached on disk or logged, and idle plugins
// are released after five minutes.
type Options struct {
	// CacheDir keeps machine code between runs; it is created with mode 0700. The code in it will
	// be run: nobody else may write there, and entries are sealed with CacheKey, which must be set,
	// too. Empty: no cache.
	CacheDir string
	CacheKey []byte
	// Ready is a folder with machine code that [Prepare] made for all users of the machine. It is
	// read for modules that are not in CacheDir, if only root can write to it and to the folders
	// above it; otherwise it is ignored. Empty: none.
	Ready string
	// Share makes the hosts of this process that share a cache share the machine code in memory,
	// too. It stays there until the process ends, even if its plugins are gone.
	Share  bool
	Logger *slog.Logger
	// Idle is how long an unused plugin keeps its instances and machine code. Loading it again
	// takes about 20 ms with a cache, and half a second without. 0: five minutes. Negative: for
	// ever.
	Idle time.Duration
	// Instances is how many calls of one plugin may run at once; 0: 2.
	Instances int
	// MaxFaults in a row disable a plugin; 0: 3.
	MaxFaults int
	// OnFault is called after each fault, on the goroutine that called Extract. May be nil.
	OnFault func(Fault)
	// Stderr receives a guest's own messages, for authors: they may contain its input. Nil: they
	// are dropped.
	Stderr io.Writer
	// Worker is the command of a worker process, a program that begins with ServeWorker. Empty:
	// LoadApart does not work.
	Worker []string
	// NoSpare saves memory. There is no second worker that stands by while a plugin is late, so a
	// start has to be waited for afterwards. Loading frees memory between its steps, which takes
	// longer. On Linux, machine code is run from an unnamed file in CacheDir, so that its pages can
	// be reclaimed.
	NoSpare bool
	// Interpret makes wazero interpret even if it could compile.
	Interpret bool
}

const (
	defaultIdle      = 5 * time.Minute
	defaultInstances = 2
	defaultMaxFaults = 3
	// maxCalls is the number of calls after which an instance is replaced, because its memory never
	// shrinks.
	maxCalls = 10_000
)

// Host holds plugins. Safe for concurrent use.
type Host struct {
	opt    Options
	engine Engine
	wazero string        // its version
	turn   chan struct{} // held by the worker that runs at this process's weight

	mu      sync.Mutex
	plugins map[*Plugin]struct{}
	domains map[string]*domain // by publisher
	closed  bool

	codes *codes

	filesMu sync.Mutex           // guards the fields below
	files   map[codeKey]*os.File // files with machine code; see fileCode
	unfiled bool                 // files can't be run here
}

// NewHost makes a host, which can load plugins.
func NewHost(ctx context.Context, opt Options) (*Host, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	opt.Idle = cmp.Or(opt.Idle, defaultIdle)
	if opt.Instances <= 0 {
		opt.Instances = defaultInstances
	}
	if opt.MaxFaults <= 0 {
		opt.MaxFaults = defaultMaxFaults
	}
	h := &Host{opt: opt, engine: engine(opt.Interpret), plugins: map[*Plugin]struct{}{}, turn: make(chan struct{}, 1), domains: map[string]*domain{}, files: map[codeKey]*os.File{}}
	if info, ok := debug.ReadBuildInfo(); ok {
		h.wazero = wazeroIn(info)
	}
	if opt.CacheDir != "" {
		if len(opt.CacheKey) < sha256.Size {
			return nil, errors.New("plugin cache: no key to seal it with")
		}
		var err error
		if h.opt.CacheDir, err = filepath.Abs(opt.CacheDir); err != nil { // a worker has another folder
			return nil, fmt.Errorf("plugin cache: %w", err)
		}
	}
	h.codes = codesOf(h)
	return h, ctx.Err()
}

// newRuntime makes an engine for the code of one module: it shares nothing with others, and closing
// it frees everything. cacheDir may be empty.
func (h *Host) newRuntime(ctx context.Context, cacheDir string) (_ wazero.Runtime, cache wazero.CompilationCache, err error) {
	config := wazero.NewRuntimeConfigCompiler()
	if h.engine == Interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	if cacheDir != "" {
		if cache, err = wazero.NewCompilationCacheWithDir(cacheDir); err != nil {
			return nil, nil, fmt.Errorf("open the plugin cache: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config.
		WithMemoryLimitPages(abi.MostMemory/abi.PageSize).
		WithDebugInfoEnabled(false))
	if err := link(ctx, r); err != nil {
		return nil, nil, errors.Join(err, r.Close(ctx))
	}
	return r, cache, nil
}

// engine reports whether wazero v1.12 has a compiler for this machine.
func engine(interpret bool) Engine {
	compiles := runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
	switch runtime.GOOS {
	case "linux", "darwin", "freebsd", "netbsd", "windows":
	default:
		compiles = false
	}
	if compiles && !interpret {
		return Compiler
	}
	return Interpreter
}

// Engine returns how modules are run here. If they are interpreted, time limits are 100 times as
// long; fuel is the same everywhere.
func (h *Host) Engine() Engine { return h.engine }

func (h *Host) timeScale() time.Duration {
	if h.engine == Interpreter {
		return interpreterScale
	}
	return 1
}

// Plugins lists the loaded plugins, in no order.
func (h *Host) Plugins() []*Plugin {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.plugins))
}

// Close closes every plugin and the engine. It waits for running calls.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	var errs []error
	for _, p := range h.Plugins() {
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(errs...)
}
