package wasm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/wasm/abi"
)

// buildEcho builds testdata/echo once for all tests.
var buildEcho = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "locket-echo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "echo.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, "./testdata/echo")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.New(err.Error() + ": " + string(msg))
	}
	return os.ReadFile(file)
})

func echo(t testing.TB) []byte {
	t.Helper()
	b, err := buildEcho()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGoGuest: a plugin in Go, from package guest to the host and back, including every kind of
// fault.
func TestGoGuest(t *testing.T) {
	ctx := context.Background()
	var stderr bytes.Buffer
	h := newHost(t, Options{Stderr: &stderr, MaxFaults: 100})
	p, err := h.Load(ctx, echo(t), testManifest())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // after each fault a fresh instance answers
		for _, c := range []struct {
			text string
			want error
		}{
			{"hello", nil}, {"fail", ErrPlugin}, {"panic", ErrTrap}, {"spin", ErrFuel}, {"eat", ErrMemory}, {"", nil},
		} {
			e := someText()
			e.Text = c.text
			out, u, err := p.Extract(ctx, e)
			if !errors.Is(err, c.want) {
				t.Errorf("%q: got %v, want %v", c.text, err, c.want)
			}
			if c.text == "hello" && (len(out.Candidates) != 1 || out.Candidates[0].Text != "HELLO" || u.Fuel == 0) {
				t.Errorf("%q: %+v, %+v", c.text, out, u)
			}
		}
	}
	e := someText()
	e.Text = "recurse"
	_, u, err := p.Extract(ctx, e)
	var f *Fault
	if !errors.As(err, &f) || u.Memory > abi.DefaultMemory {
		t.Errorf("recurse: %v, %+v", err, u)
	}
	if !strings.Contains(stderr.String(), "panic") {
		t.Error("the author sees nothing of the panic")
	}
	if s := p.Stats(); s.Faults[FaultTrap] != 2 || s.Faults[FaultFuel] < 2 || s.Faults[FaultMemory] < 2 {
		t.Errorf("%+v", s)
	}
}

// TestGoGuestMemoryIsStable: after many calls, large and small, the memory stays within what docs/wasm.md
// says that a Go guest needs.
func TestGoGuestMemoryIsStable(t *testing.T) {
	ctx := context.Background()
	h := newHost(t, Options{})
	p, err := h.Load(ctx, echo(t), testManifest())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3000 {
		e := someText()
		if i%100 == 0 {
			e.Text = strings.Repeat("many words ", 3000)
		}
		if _, u, err := p.Extract(ctx, e); err != nil || u.Memory > 8<<20 {
			t.Fatal(i, u, err)
		}
	}
}
