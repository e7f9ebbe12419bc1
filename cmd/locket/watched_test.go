package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/daemon"
	"github.com/locket-dev/locket/internal/testing/systemdtest"
	"github.com/locket-dev/locket/node/serve"
)

// A daemon that systemd started tells it when it takes events, that it answers
// for as long as it does, and that it ends.
func TestSystemdIsTold(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	d := testDeps()
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	heard := systemdtest.Listen(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, []string{"--home", home, "run"}, strings.NewReader(""), io.Discard, io.Discard, d)
	}()
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := heard(); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	stop()
	last := ""
	for last != "STOPPING=1" {
		if last = heard(); last != "STOPPING=1" && last != "WATCHDOG=1" {
			t.Fatalf("%q", last)
		}
	}
	<-ended
}

// A node that does not answer is not said to.
func TestWatchdogOfAHangingNode(t *testing.T) {
	heard := systemdtest.Listen(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	ctx, end := context.WithCancel(t.Context())
	hanging := &hanging{asked: make(chan struct{}, 8)}
	quiet := daemon.Watched(ctx, hanging, nil)
	for range 3 {
		<-hanging.asked
	}
	end()
	quiet()
	if first, second := heard(), heard(); first != "READY=1" || second != "STOPPING=1" {
		t.Errorf("%q, %q", first, second)
	}
}

// hanging is a node that never says how it is.
type hanging struct {
	serve.Diagnostics
	asked chan struct{}
}

func (h *hanging) Status(ctx context.Context) (serve.Status, error) {
	select {
	case h.asked <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return serve.Status{}, ctx.Err()
}
