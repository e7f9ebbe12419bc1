package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/systemdtest"
)

// A daemon that systemd started tells systemd when it accepts events, regularly that it answers,
// and that it ends.
func TestSystemdNotifications(t *testing.T) {
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
