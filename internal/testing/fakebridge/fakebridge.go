//go:build unix

// Package fakebridge makes programs that replace locket-bridge, and report to a test over a named
// pipe.
package fakebridge

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/node/config"
)

// Bridge is one such program.
type Bridge struct {
	Config config.Bridge
	Heard  *bufio.Scanner // its output, line by line; it never ends
}

// New makes a program that prints its arguments and then does what script says: say WORDS prints
// more, first is true in its first run, and stay waits to be ended.
func New(t testing.TB, script string) *Bridge {
	t.Helper()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // a reader without an end
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b := &Bridge{config.Bridge{Config: filepath.Join(dir, "bridge.toml"), Program: filepath.Join(dir, "fake")}, bufio.NewScanner(f)}
	text := fmt.Sprintf(`#!/bin/sh
say() { echo "$*" >>%[1]s/pipe; }
first() { mkdir %[1]s/began 2>/dev/null; }
stay() { sleep 600 >/dev/null 2>&1 & echo $! >%[1]s/sleeps; say stays; wait; }
trap 'say ended; kill $(cat %[1]s/sleeps); exit 0' TERM
say "$*"
%[2]s
`, dir, script)
	if err := errors.Join(os.WriteFile(b.Config.Program, []byte(text), 0o700), os.WriteFile(b.Config.Config, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	return b
}

// Says fails the test unless these are the next lines.
func (b *Bridge) Says(t testing.TB, want ...string) {
	t.Helper()
	for _, w := range want {
		if !b.Heard.Scan() || b.Heard.Text() != w {
			t.Fatalf("%q, %v, want %q", b.Heard.Text(), b.Heard.Err(), w)
		}
	}
}

// Arguments returns the arguments with which a daemon starts it.
func (b *Bridge) Arguments() string { return "--json run --config " + b.Config.Config }
