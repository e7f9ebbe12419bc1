// Package e2e runs the built commands as separate processes, as a person and their wearables would.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/logbook"
	"github.com/locket-dev/locket/internal/testing/plugincache"
)

// patience is the timeout of any single step. Tests don't measure: on a slow machine they wait.
const patience = 10 * time.Minute

var bin, first string

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == tellTime {
		tellsTime()
		return
	}
	plugincache.Run(func(plugins string) (int, error) { return build(m, plugins) })
}

func build(m *testing.M, plugins string) (int, error) {
	dir, err := os.MkdirTemp("", "locket-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	bin = filepath.Join(dir, "bin")
	cmd := exec.Command("go", "build", "-ldflags", "-X main.pluginCache="+plugins, "-o", bin+"/", "../cmd/...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the commands: %w\n%s", err, out)
	}
	// Most homes begin as a copy of this one, which also compiles the plugins for all of them.
	first = filepath.Join(dir, "first")
	if err := configure(first); err != nil {
		return 1, err
	}
	for _, args := range [][]string{{"--set", "wearer=Ana", "--set", "zone=Europe/Lisbon", "init", "--key-file", "--no-check"}, {"doctor"}} {
		cmd := exec.Command(filepath.Join(bin, "locket"), append([]string{"--home", first}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("compile the plugins: %w\n%s", err, out)
		}
	}
	return m.Run(), nil
}

// home is a node's folder, and the daemon that may run on it.
type home struct {
	t   *testing.T
	dir string
	env []string
	run []string // flags of locket run

	begin func(*exec.Cmd) error // starts the daemon; nil: its Start
	d     *daemon
}

// newHome makes a home that has heard nothing, whose keys open with a key file: a copy of the first
// home, with its keys.
func newHome(t *testing.T, flags ...string) *home {
	t.Helper()
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home"), run: flags}
	if out, err := exec.Command("cp", "-a", first, h.dir).CombinedOutput(); err != nil {
		t.Fatalf("copy a home: %v\n%s", err, out)
	}
	return h
}

// configure makes a home's folder and settings, without keys.
func (h *home) configure() {
	h.t.Helper()
	if err := configure(h.dir); err != nil {
		h.t.Fatal(err)
	}
}

func configure(dir string) error {
	conf := "wearer = \"Ana\"\nzone = \"Europe/Lisbon\"\n[broker]\nlisten = \"127.0.0.1:0\"\n[disk]\nreserve = \"32MB\"\n"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.toml"), []byte(conf), 0o600)
}

// try runs one command to its end.
func (h *home) try(args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "locket"), append([]string{"--home", h.dir}, args...)...)
	cmd.Env = append(os.Environ(), h.env...)
	var out, errb bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errb
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		h.t.Fatalf("locket %s: %v, %v\n%s", strings.Join(args, " "), err, ctx.Err(), errb.String())
	}
	return out.String(), errb.String(), cmd.ProcessState.ExitCode()
}

// must runs a command that has to succeed, and returns its output.
func (h *home) must(args ...string) string {
	h.t.Helper()
	out, errs, code := h.try(args...)
	if code != 0 {
		h.t.Fatalf("locket %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// mustJSON does the same with --json, into v.
func (h *home) mustJSON(v any, args ...string) {
	h.t.Helper()
	out := h.must(append([]string{"--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		h.t.Fatalf("locket --json %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// eventually repeats a command until ok accepts its output.
func (h *home) eventually(what string, ok func(string) bool, args ...string) string {
	h.t.Helper()
	var out string
	until(h.t, what, func() bool {
		var code int
		out, _, code = h.try(args...)
		return code == 0 && ok(out)
	})
	return out
}

// until waits for a condition; what names it in the error.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if ok() {
			return
		}
		wait(50 * time.Millisecond)
	}
	t.Fatalf("%s: not within %v", what, patience)
}

func wait(d time.Duration) {
	t := time.NewTimer(d)
	<-t.C
}

// daemon is a running locket run.
type daemon struct {
	cmd    *exec.Cmd
	broker string
	api    string
	locked bool
	log    *logbook.Book
	done   chan struct{} // closed when it has ended
	err    error
}

// begin starts a command: with a function, or else with its Start.
func begin(cmd *exec.Cmd, by func(*exec.Cmd) error) error {
	if by == nil {
		return cmd.Start()
	}
	return by(cmd)
}

// start runs the daemon and waits until it is ready.
func (h *home) start(flags ...string) *daemon {
	h.t.Helper()
	d, err := h.tryStart(flags...)
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func (h *home) tryStart(flags ...string) (*daemon, error) {
	args := append([]string{"--home", h.dir, "--json", "run"}, append(h.run, flags...)...)
	d := &daemon{cmd: exec.Command(filepath.Join(bin, "locket"), args...), log: new(logbook.Book), done: make(chan struct{})}
	d.cmd.Env = append(os.Environ(), h.env...)
	d.cmd.Stderr = d.log
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := begin(d.cmd, h.begin); err != nil {
		return nil, err
	}
	first := make(chan string, 1)
	go func() {
		r := bufio.NewReader(stdout)
		line, _ := r.ReadString('\n')
		first <- line
		io.Copy(io.Discard, r)
		d.err = d.cmd.Wait()
		close(d.done)
	}()
	h.t.Cleanup(func() { d.kill() })
	select {
	case line := <-first:
		var ready struct {
			Ready  bool   `json:"ready"`
			API    string `json:"api"`
			Broker string `json:"broker"`
			Locked bool   `json:"locked"`
		}
		if err := json.Unmarshal([]byte(line), &ready); err != nil || !ready.Ready {
			d.kill()
			return nil, fmt.Errorf("locket run: not ready: %q\n%s", line, d.log)
		}
		d.broker, d.api, d.locked = ready.Broker, ready.API, ready.Locked
	case <-time.After(patience):
		d.kill()
		return nil, fmt.Errorf("locket run: not ready within %v\n%s", patience, d.log)
	}
	h.d = d
	return d, nil
}

// kill ends the daemon like a power cut, as far as a process can tell.
func (d *daemon) kill() {
	d.cmd.Process.Signal(syscall.SIGKILL)
	<-d.done
}

// stop asks the daemon to end, and returns its result.
func (d *daemon) stop(t *testing.T) error {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-d.done:
		return d.err
	case <-time.After(patience):
		d.kill()
		t.Fatalf("locket run did not end on SIGTERM\n%s", d.log)
		return nil
	}
}
