// Package fuel rewrites a WebAssembly module so that it can't run forever, nest
// its calls without bound, or grow past its memory. wazero's machine code can't
// be interrupted, so the module itself counts.
//
// Fuel is a mutable global that the host fills before a call. Every function
// entry and every turn of a loop subtracts its cost from it, and if the result
// is less than zero, the module traps. The cost of a stretch of code is 1 plus
// a share of its weight, so that no long stretch is cheap. Bulk operations cost
// by their length. Small loops, and the loops that Go makes of functions, pay
// less often: see loop. The charge depends only on the module and its input, so
// it is the same on every machine. A function with loops keeps the remaining
// fuel in a local, and stores it before a call, at its end, and when it has run
// out. After another trap, the global may be greater than the remaining fuel.
//
// Depth is a second global: the number of stack slots of the open calls.
// Starved is a third, set when memory could not grow.
//
// The globals are added after the module's own, so that no index changes. Every
// index in the original is checked against the original's counts, so that none
// reaches what was added. The start function becomes an export, because it
// would otherwise run before the host could set any fuel. Custom sections are
// dropped.
package fuel

import (
	"errors"
	"fmt"
)

// Version is the version of the rewriting. It changes when the output or the
// charges change. Caches include it in their keys.
const Version = 3

// Names of the exports that are added. A module that already has such an export
// is refused.
const (
	Prefix  = "locket:"
	Fuel    = Prefix + "fuel"    // i64: remaining fuel; less than 0 after running out
	Depth   = Prefix + "depth"   // i32: stack slots in use; over MaxDepth after too many calls
	Starved = Prefix + "starved" // i32: not 0 when memory.grow was refused
	Start   = Prefix + "start"   // the original start function, if there was one; the host calls it after it has set the fuel
)

// Costs.
const (
	// WeightUnit is how much weight one unit of fuel pays for: about that many
	// simple instructions, or an eighth as many divisions.
	WeightUnit = 64
	// BulkUnit is how many bytes of memory one unit pays for.
	BulkUnit = 64
	// ElementUnit is how many table elements one unit pays for: 8 bytes each.
	ElementUnit = 8
	// PageUnits is what one page of memory costs to grow.
	PageUnits = (64 << 10) / BulkUnit
)

// Limits of a module. They bound the time and memory for compiling, and the
// native stack. Go's runtime, the largest known guest, stays far below each.
const (
	MaxTypes       = 8 << 10
	MaxParams      = 64 // and results, of one type
	MaxImports     = 256
	MaxFunctions   = 20_000
	MaxTables      = 16
	MaxElements    = 64 << 10 // of a table, and of all element segments
	MaxGlobals     = 4 << 10
	MaxExports     = 4 << 10
	MaxSegments    = 100_000  // data, and element, each; a small Go guest has 23,000 of data
	MaxLocals      = 2_000    // of one function, with its parameters
	MaxBody        = 1 << 20  // bytes of one function
	MaxNesting     = 10_000   // blocks within blocks
	MaxBlocks      = 20_000   // of one function
	MaxLocalBlocks = 4 << 20  // locals times blocks: compiling is of that order
	MaxTargets     = 64 << 10 // of all br_table in one function
	MaxDepth       = 512 << 10
)

// Errors; each is wrapped with what and where.
var (
	ErrMalformed   = errors.New("malformed module")
	ErrUnsupported = errors.New("unsupported module")
	ErrLimit       = errors.New("module over a limit")
	ErrMemory      = errors.New("module wants more memory than it may have")
	ErrComponent   = errors.New("this is a WebAssembly component; a core module is wanted")
)

// Config configures the rewriting.
type Config struct {
	Pages int // greatest number of pages of memory, 64 KiB each
}

// Import is a function that a module asks for.
type Import struct{ Module, Name string }

// Info describes the module.
type Info struct {
	Imports []Import
	Exports map[string]Export
}

// Kinds of export (WebAssembly core 2.0, 5.5.10).
const (
	KindFunction = 0
	KindTable    = 1
	KindMemory   = 2
	KindGlobal   = 3
)

// Export describes an export. Params and Results are for functions: value
// types, one byte each.
type Export struct {
	Kind            byte
	Index           uint32
	Params, Results string
}

// Rewrite returns the module with limits on fuel, depth and memory. The result is valid if the
// module is; wazero validates it. What is not valid stays so, with two exceptions: a function with
// loops that leaves more on the stack than it returns, and a reference to the start function that
// is not declared.
func Rewrite(module []byte, c Config) ([]byte, *Info, error) {
	m := rewriter{config: c, in: reader{b: module}}
	if err := m.run(); err != nil {
		return nil, nil, err
	}
	return m.out, &Info{Imports: m.imports, Exports: m.exports}, nil
}

func malformed(format string, a ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, a...)...)
}

func unsupported(format string, a ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsupported}, a...)...)
}

func overLimit(what string, n, most uint64) error {
	return fmt.Errorf("%w: %d %s, at most %d", ErrLimit, n, what, most)
}
