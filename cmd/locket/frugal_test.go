package main

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/node/config"
)

// A daemon sets how much memory it may use before it opens its home, because what it opens depends
// on that. When a store and plugins were opened first, they used as much as on a large machine, and
// the daemon was killed on a small one.
func TestMemoryLimitIsSetBeforeOpening(t *testing.T) {
	t.Setenv("GOGC", "")
	before := debug.SetGCPercent(100)
	limit := debug.SetMemoryLimit(-1) // a control group around this test may have set one
	t.Cleanup(func() { debug.SetGCPercent(before); debug.SetMemoryLimit(limit) })
	home := filepath.Join(t.TempDir(), "home")
	d := testDeps()
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	errSeen := errors.New("seen")
	growth := uint64(0)
	d.OpenNode = func(config.Config, *slog.Logger, span.Sink) (cli.OpenNode, error) {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		growth = s[0].Value.Uint64()
		return nil, errSeen
	}
	var errs strings.Builder
	if code := run(t.Context(), []string{"--home", home, "run"}, strings.NewReader(""), io.Discard, &errs, d); code == 0 || !strings.Contains(errs.String(), errSeen.Error()) {
		t.Fatal(code, errs.String())
	}
	if growth == 0 || growth >= 100 {
		t.Errorf("the heap may grow by %d %% as the home is opened", growth)
	}
}
