// Package pack builds the built-in plugins from source, so that the same source and the same Go
// version make the same bytes on every machine.
package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Module is a built plugin.
type Module struct {
	Name string // name of its folder
	Wasm []byte
}

// Sum returns the SHA-256 of the module.
func (m Module) Sum() [sha256.Size]byte { return sha256.Sum256(m.Wasm) }

// ownPackages are compiled without inlining. That makes the text extractors' module an eighth
// smaller, and its machine code in a home a fifth; docs/decisions.md has the cost.
const ownPackages = "github.com/locket-dev/locket/..."

// passed are the variables of go env that are passed on: paths and sources, which don't affect the
// result. Other variables are not passed on.
var passed = []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOROOT", "GOTMPDIR"}

// Build builds every folder NAME that has NAME/main, in dir, the folder of package plugins, in the
// order of their names.
func Build(ctx context.Context, dir string) ([]Module, error) {
	env, err := environment(ctx, dir)
	if err != nil {
		return nil, err
	}
	mains, err := filepath.Glob(filepath.Join(dir, "*", "main", "*.go"))
	if err != nil {
		return nil, err
	}
	out, err := os.MkdirTemp("", "locket-plugins-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	var list []Module
	for _, f := range mains {
		name := filepath.Base(filepath.Dir(filepath.Dir(f)))
		if len(list) > 0 && list[len(list)-1].Name == name {
			continue
		}
		file := filepath.Join(out, name+".wasm")
		cmd := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-pgo=off",
			"-mod=readonly", "-gcflags="+ownPackages+"=-l", "-ldflags=-s -w -buildid=", "-o", file, "./"+name+"/main")
		cmd.Dir, cmd.Env = dir, env
		if msg, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build plugin %s: %w\n%s", name, err, bytes.TrimSpace(msg))
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		list = append(list, Module{name, b})
	}
	return list, nil
}

// environment returns the entire environment of go build.
func environment(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"env", "-json"}, passed...)...)
	cmd.Dir = dir
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask go env: %w", err)
	}
	var values map[string]string
	if err := json.Unmarshal(b, &values); err != nil {
		return nil, fmt.Errorf("read go env: %w", err)
	}
	env := []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOENV=off", "GOFLAGS=", "GOWORK=off",
		"GOEXPERIMENT=", "GOWASM=", "GODEBUG=", "GOFIPS140=off", "GO111MODULE=on", "GOTOOLCHAIN=local"}
	for _, k := range passed {
		if values[k] != "" {
			env = append(env, k+"="+values[k])
		}
	}
	for _, k := range []string{"PATH", "HOME", "TMPDIR", "USERPROFILE", "LocalAppData", "SystemRoot", "HTTPS_PROXY", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(k); ok {
			env = append(env, k+"="+v)
		}
	}
	slices.Sort(env)
	return env, nil
}

// Sums is stored beside the built modules: the Go version that built them, and the SHA-256 of each,
// uncompressed, in the format of sha256sum.
type Sums struct {
	Go  string
	Sum map[string]string // by plugin, hexadecimal
}

// SumsOf describes modules that this Go version has built.
func SumsOf(list []Module) Sums {
	s := Sums{Go: runtime.Version(), Sum: map[string]string{}}
	for _, m := range list {
		s.Sum[m.Name] = fmt.Sprintf("%x", m.Sum())
	}
	return s
}

// Format writes the sums in the order of the plugins' names.
func (s Sums) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", s.Go)
	names := make([]string, 0, len(s.Sum))
	for n := range s.Sum {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(&b, "%s  %s.wasm\n", s.Sum[n], n)
	}
	return b.Bytes()
}

// ParseSums reads what Format wrote.
func ParseSums(b []byte) (Sums, error) {
	s := Sums{Sum: map[string]string{}}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if v, ok := strings.CutPrefix(line, "# "); ok && i == 0 {
			s.Go = v
			continue
		}
		sum, file, ok := strings.Cut(line, "  ")
		name, isWasm := strings.CutSuffix(file, ".wasm")
		if !ok || !isWasm || len(sum) != 2*sha256.Size {
			return s, fmt.Errorf("line %d of the sums: want SHA256, two spaces, NAME.wasm", i+1)
		}
		s.Sum[name] = sum
	}
	return s, nil
}
