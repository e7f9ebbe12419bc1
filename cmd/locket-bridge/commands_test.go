package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits CODE COMMAND...: the command's exit code, exactly.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// journal KIND N: the node has N events of a kind on disk.
func journalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: journal KIND N")
	}
	d := ts.Value(diskKey{}).(*disk)
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, k := range d.kinds {
		if k == args[0] {
			n++
		}
	}
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("%d %s, want %s: %v", n, args[0], args[1], slices.Compact(slices.Clone(d.kinds)))
	}
}

// until TEXT COMMAND...: runs it until a line of its standard output has the
// text, then sends SIGTERM, after which it must exit with 0.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until TEXT COMMAND...")
	}
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	for _, name := range []string{"PATH", "HOME", "XDG_STATE_HOME", "DBUS_SYSTEM_BUS_ADDRESS"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Dir = ts.MkAbs(".")
	out := &watched{text: args[0], cmd: cmd}
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = out, &said
	ts.Check(cmd.Start())
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("%v\n%s%s", err, out.all.String(), said.String())
	}
	ts.Logf("%s", out.all.String())
	if !strings.Contains(out.all.String(), args[0]) {
		ts.Fatalf("it ended without %q", args[0])
	}
}

// TestRefusedByBroker: the broker refuses a wrong name or password, too.
func TestRefusedByBroker(t *testing.T) {
	advice := adviceOn(fmt.Errorf("%w tcp://127.0.0.1:1883: not Authorized", errBroker))
	for _, flag := range []string{"--broker", "--name", "--password-file"} {
		if !strings.Contains(advice, flag) {
			t.Errorf("%q does not name %s", advice, flag)
		}
	}
}
