//go:build unix

package engine

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program puts a shell script into a separate PATH.
func program(t *testing.T, script string) Command {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "engine"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Command{Engine: "test", Program: "engine", Path: dir, Dir: t.TempDir()}
}

func kind(t *testing.T, err error, want Kind, words string) {
	t.Helper()
	var f *Fault
	if !errors.As(err, &f) || f.Kind != want || !strings.Contains(f.Error(), words) {
		t.Fatalf("%v, want a fault of kind %s with %q", err, want, words)
	}
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Fatalf("left in the folder: %v, %v", left, err)
	}
}

func TestInputAndEnvironment(t *testing.T) {
	t.Setenv("LOCKET_SECRET", "of-the-worker")
	c := program(t, `cat; cat in.wav; stat -c %a in.wav; echo "$HOME" = "$PWD"; env; echo "$@"; ulimit -t; ulimit -c`)
	out, err := c.Run(t.Context(), Input{Stdin: []byte("from stdin\n"), File: []byte("from a file\n"), FileName: "in.wav"}, "an arg", "$(two)")
	if err != nil {
		t.Fatal(err)
	}
	s := string(out)
	for _, want := range []string{"from stdin\n", "from a file\n", "600\n", "OMP_THREAD_LIMIT=1", "an arg $(two)\n", "120\n0\n"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is not in %q", want, s)
		}
	}
	if strings.Contains(s, "of-the-worker") {
		t.Error("the worker's environment was passed on")
	}
	empty(t, c.Dir)
}

func TestHangIsKilledWithItsChildren(t *testing.T) {
	c := program(t, `sleep 1000 > "$1" & sleep 1000`)
	c.Limits.Wall = 300 * time.Millisecond
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c.writes = []string{fifo}
	held, err := os.OpenFile(fifo, os.O_RDWR, 0) // because nobody may open it: on a busy machine the program is killed before
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = c.Run(t.Context(), Input{}, fifo)
	kind(t, err, Slow, "killed after 300ms")
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(f); err != nil { // this ends when nobody holds the other end any more
		t.Fatal(err)
	}
	empty(t, c.Dir)
}

func TestLoopIsKilledByProcessorTime(t *testing.T) {
	c := program(t, `while :; do :; done`)
	c.Limits.CPU = time.Second
	_, err := c.Run(t.Context(), Input{})
	kind(t, err, Slow, "of processor time")
}

func TestMemoryLimitHolds(t *testing.T) {
	c := program(t, `x=0123456789abcdef; while :; do x=$x$x; done`)
	c.Limits.Memory, c.Limits.CPU = 64<<20, 20*time.Second
	_, err := c.Run(t.Context(), Input{})
	kind(t, err, Crashed, "")
}

func TestCrash(t *testing.T) {
	c := program(t, `echo 'corrupt	header' >&2; kill -SEGV $$`)
	_, err := c.Run(t.Context(), Input{})
	kind(t, err, Crashed, "segmentation fault: corrupt header")
	c = program(t, `echo no such model >&2; exit 3`)
	_, err = c.Run(t.Context(), Input{})
	kind(t, err, Crashed, "exit status 3: no such model")
}

func TestOutputIsBounded(t *testing.T) {
	c := program(t, `yes`)
	c.Limits.Output = 1 << 20
	_, err := c.Run(t.Context(), Input{})
	kind(t, err, Babbled, "more than 1048576 bytes")
}

func TestFileIsBounded(t *testing.T) {
	c := program(t, `yes > big`)
	c.Limits.File = 1 << 20
	_, err := c.Run(t.Context(), Input{})
	kind(t, err, Crashed, "")
	empty(t, c.Dir)
}

func TestUnreadInput(t *testing.T) {
	c := program(t, `echo done`)
	if out, err := c.Run(t.Context(), Input{Stdin: make([]byte, 1<<20)}); err != nil || string(out) != "done\n" {
		t.Fatalf("%q, %v", out, err)
	}
}

func TestMissing(t *testing.T) {
	c := Command{Engine: "test", Program: "locket-no-such-engine"}
	_, err := c.Run(t.Context(), Input{})
	kind(t, err, Missing, "locket-no-such-engine is not on the PATH")
	if err.(*Fault).Temporary() {
		t.Error("a missing engine is not temporary")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := program(t, `echo started > "$1"; sleep 1000`)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c.writes = []string{fifo}
	go func() {
		os.ReadFile(fifo)
		cancel()
	}()
	if _, err := c.Run(ctx, Input{}, fifo); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	empty(t, c.Dir)
}

// A result is read from the folder, and must be a file of the program's own.
func TestResults(t *testing.T) {
	c := program(t, `case $1 in file) echo text; printf second > b; ;; link) ln -s /etc/passwd a ;; large) head -c 200 /dev/zero > a ;; esac`)
	c.Limits.Output = 100
	run := func(arg string) ([]byte, error) {
		return c.Run(t.Context(), Input{Results: []string{"a", "b"}}, arg)
	}
	if b, err := run("file"); err != nil || string(b) != "second" {
		t.Errorf("%q, %v", b, err)
	}
	for arg, words := range map[string]string{"none": "it wrote no a", "link": "it wrote no a", "large": "more than 100 bytes"} {
		_, err := run(arg)
		kind(t, err, Babbled, words)
	}
	empty(t, c.Dir)
}
