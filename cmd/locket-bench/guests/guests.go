// Package guests builds plugins from source to measure them: the same work in C, Rust,
// AssemblyScript and Go, on the templates that authors start with, and in C and Go also for
// Extism's host.
package guests

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/wasm/template"
)

//go:embed c/plugin.c
var sourceC string

//go:embed c/echo.c
var sourceEcho string

//go:embed lib.rs
var sourceRust string

//go:embed extract.ts
var sourceAS string

//go:embed main.go.tmpl
var sourceGo string

//go:embed extism.go.tmpl
var sourceExtism string

//go:embed work/work.go
var sourceWork string

// Kind is a kind of guest: a language, or a variant of one.
type Kind string

// The guests. Those of Extism's export run, the one in C echo too.
const (
	C        Kind = "c"
	Rust     Kind = "rust"
	AS       Kind = "as"
	Go       Kind = "go"
	Echo     Kind = "echo" // in C: returns its input
	ExtismC  Kind = "extism c"
	ExtismGo Kind = "extism go"
)

// Build makes the module in dir, a folder that does not exist yet, with the template's own
// build.sh. The error says what build.sh lacks. RUSTC is respected.
func Build(ctx context.Context, kind Kind, dir string) ([]byte, error) {
	language := map[Kind]string{Echo: "c", ExtismC: "c", ExtismGo: "go"}[kind]
	if language == "" {
		language = string(kind)
	}
	if err := template.Write(dir, language, "bench/guest"); err != nil {
		return nil, err
	}
	module := strings.NewReplacer("{{module}}", "plugin.local/guest").Replace
	sources := map[string]string{}
	switch kind {
	case C:
		sources["plugin.c"] = sourceC
	case Echo:
		sources["plugin.c"] = sourceEcho
	case ExtismC:
		sources["plugin.c"] = "#define EXTISM\n" + sourceC
	case Rust:
		sources["src/lib.rs"] = sourceRust
	case AS:
		sources["assembly/extract.ts"] = sourceAS
	case ExtismGo, Go:
		sources["main.go"] = module(sourceGo)
		sources["work.go"] = strings.Replace(sourceWork, "package work", "package main", 1)
		if kind == ExtismGo {
			sources["extism.go"] = module(sourceExtism)
		}
	default:
		return nil, fmt.Errorf("there is no guest %q", kind)
	}
	for name, text := range sources {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, "sh", "build.sh")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the guest %s: %w: %s", kind, err, strings.TrimSpace(string(out)))
	}
	return os.ReadFile(filepath.Join(dir, "plugin.wasm"))
}
