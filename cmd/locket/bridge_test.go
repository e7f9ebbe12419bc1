package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/testing/fakebridge"
	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// A locked daemon also runs its bridge: it restarts it, reports its state, gives it no secret, and
// ends it.
func TestDaemonRunsABridge(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	d := testDeps()
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	f := fakebridge.New(t, `if first; then exit 1; fi
say "secrets $(env | grep -c -e SECRET -e LOCKET)"
stay`)
	d.Environ = append(d.Environ, "MY_SECRET=open sesame", "LOCKET_BRIDGE_PROGRAM="+f.Config.Program)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, []string{"--home", home, "--set", "bridge.config=" + f.Config.Config, "run", "--locked", "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, io.Discard, d)
	}()
	f.Says(t, f.Arguments(), f.Arguments(), "secrets 0", "stays")
	var out bytes.Buffer
	run(t.Context(), []string{"--home", home, "--json", "doctor"}, strings.NewReader(""), &out, io.Discard, d)
	var r serve.DoctorReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Findings, func(f serve.Finding) bool {
		return f.Check == "bridge" && f.Level == serve.LevelOK && strings.Contains(f.Detail, "it is running as process")
	}) {
		t.Errorf("doctor says %s", &out)
	}
	stop()
	f.Says(t, "ended")
	<-ended
}

// stopsLast is a node that records whether a bridge is running when it stops.
type stopsLast struct {
	cli.OpenNode
	pid  *int
	runs *bool
}

func (n stopsLast) Stop(ctx context.Context) error {
	*n.runs = syscall.Kill(*n.pid, 0) == nil
	return n.OpenNode.Stop(ctx)
}

// A daemon's bridge ends before the node stops, so that the node accepts the bridge's last events.
func TestNodeStopsAfterItsBridge(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	d := testDeps()
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	f := fakebridge.New(t, "trap '' TERM\nsay $$\nexec sleep 600") // it takes all of bridgeStop
	d.Environ = append(d.Environ, "LOCKET_BRIDGE_PROGRAM="+f.Config.Program)
	pid, runs := 0, false
	open := d.OpenNode
	d.OpenNode = func(cfg config.Config, log *slog.Logger, spans span.Sink) (cli.OpenNode, error) {
		n, err := open(cfg, log, spans)
		if err != nil {
			return nil, err
		}
		return stopsLast{n, &pid, &runs}, nil
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, []string{"--home", home, "--set", "bridge.config=" + f.Config.Config, "run", "--locked", "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, io.Discard, d)
	}()
	f.Says(t, f.Arguments())
	if !f.Heard.Scan() {
		t.Fatal(f.Heard.Err())
	}
	if _, err := fmt.Sscan(f.Heard.Text(), &pid); err != nil {
		t.Fatal(err)
	}
	stop()
	<-ended
	if runs {
		t.Error("the node stopped while its bridge ran")
	}
}

// The bridge of a killed daemon ends.
func TestKilledDaemonHasNoBridge(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a process is tied to its parent on Linux alone")
	}
	home := filepath.Join(t.TempDir(), "home")
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, testDeps()); code != 0 {
		t.Fatal(code)
	}
	f := fakebridge.New(t, "stay")
	path, err := exec.LookPath("locket")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--home", home, "--set", "bridge.config="+f.Config.Config, "--set", "bridge.program="+f.Config.Program, "run", "--locked", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), plugincache.Env+"="+os.Getenv(plugincache.Env))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f.Says(t, f.Arguments(), "stays")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	f.Says(t, "ended")
}
