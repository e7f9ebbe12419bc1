//go:build unix

package runcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/fakebridge"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// well is a healthy node.
type well struct{ serve.Diagnostics }

func (well) Doctor(context.Context, bool) (serve.DoctorReport, error) {
	return serve.DoctorReport{OK: true}, nil
}

// bridgeOf returns a bridge without a daemon, and its log.
func bridgeOf(cfg config.Bridge, environ ...string) (*bridge, *bytes.Buffer) {
	log := new(bytes.Buffer)
	return newBridge(&config.Config{Bridge: cfg}, environ, well{}, slog.New(slog.NewTextHandler(log, nil))), log
}

func finding(b *bridge, t *testing.T) serve.Finding {
	t.Helper()
	r, err := b.Doctor(t.Context(), false)
	if err != nil || len(r.Findings) != 1 || r.OK == (r.Findings[0].Level == serve.LevelError) {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Findings[0]
}

// A failure that doesn't go away by itself is reported once, in the bridge's words, and not tried
// again.
func TestBridgeRefuses(t *testing.T) {
	const refusal = `echo '{"error":"config: line 3: folder is missing","advice":"name one"}' >&2; exit 2`
	there := fakebridge.New(t, refusal)
	none := filepath.Join(t.TempDir(), "none")
	for name, c := range map[string]struct {
		cfg  config.Bridge
		want string
	}{
		"no program": {config.Bridge{Config: there.Config.Config, Program: none}, none},
		"no file":    {config.Bridge{Config: none, Program: there.Config.Program}, none},
		"its words":  {there.Config, "config: line 3: folder is missing; name one"},
	} {
		b, log := bridgeOf(c.cfg)
		b.run(t.Context())
		if f := finding(b, t); f.Level != serve.LevelError || !strings.Contains(f.Detail, c.want) {
			t.Errorf("%s: %+v", name, f)
		}
		if !strings.Contains(log.String(), c.want) || strings.Count(log.String(), "level=ERROR") != 1 {
			t.Errorf("%s: the log says %s", name, log)
		}
	}
	there.Says(t, there.Arguments())

	b, log := bridgeOf(config.Bridge{})
	b.run(t.Context())
	if r, err := b.Doctor(t.Context(), false); err != nil || len(r.Findings) > 0 || log.Len() > 0 {
		t.Errorf("without a bridge: %+v, %v, %s", r, err, log)
	}
}

// A Go panic ends a process with 2, like a refusal, but it is tried again.
func TestBridgeCrashes(t *testing.T) {
	f := fakebridge.New(t, `if first; then echo "panic: out of range" >&2; exit 2; fi
echo '{"error":"config: gone"}' >&2; exit 2`)
	b, log := bridgeOf(f.Config)
	b.run(t.Context())
	f.Says(t, f.Arguments(), f.Arguments())
	for _, want := range []string{"exit status 2: panic: out of range", "config: gone"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, log)
		}
	}
}

// A bridge that does not end when it is told to is killed.
func TestHangingBridgeIsKilled(t *testing.T) {
	f := fakebridge.New(t, "trap '' TERM\nsay $$\nexec sleep 600")
	b, _ := bridgeOf(f.Config, "PATH="+os.Getenv("PATH"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { b.run(ctx); close(ended) }()
	f.Says(t, f.Arguments())
	if !f.Heard.Scan() {
		t.Fatal(f.Heard.Err())
	}
	if d := finding(b, t); d.Level != serve.LevelOK || !strings.Contains(d.Detail, "process "+f.Heard.Text()) {
		t.Errorf("%+v", d)
	}
	stop()
	<-ended
}

// What the bridge says is logged, but repeated attempts at a device that is away only once.
func TestBridgeLog(t *testing.T) {
	log := new(bytes.Buffer)
	out := &bridgeOut{log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})), away: map[string]bool{}}
	w := &lines{each: out.line}
	line := func(what, text string) string {
		return fmt.Sprintf("{\"device\":\"omi\",\"what\":%q,\"text\":%q}\n", what, text)
	}
	text := line("waiting", "one") + line("waiting", "two") + line("connected", "three") + line("waiting", "four") + strings.Repeat("x", 3*bridgeLine) + "\n\n" + line("lost", "five")
	for part := range slices.Chunk([]byte(text), 7) {
		if n, err := w.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	for i, word := range []string{"one", "two", "three", "four", "five"} {
		if want := i%2 == 0 && i != 2 || i == 3; strings.Contains(log.String(), "text="+word) != want {
			t.Errorf("%s: want %v: %s", word, want, log)
		}
	}
}

// The bridge beside this program is preferred to the one on the PATH.
func TestFindBridgeProgram(t *testing.T) {
	b, _ := bridgeOf(config.Bridge{Config: "/x"})
	t.Setenv("PATH", t.TempDir())
	if p, err := b.program(); !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "bridge.program") {
		t.Errorf("%q, %v", p, err)
	}
	on := filepath.Join(os.Getenv("PATH"), "locket-bridge")
	if err := os.WriteFile(on, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if p, err := b.program(); err != nil || p != on {
		t.Errorf("%q, %v", p, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(self), "locket-bridge")
	if err := os.WriteFile(beside, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(beside) })
	if p, err := b.program(); err != nil || p != beside {
		t.Errorf("%q, %v", p, err)
	}
}
