// Package testservers starts local replacements for the services that Locket talks to and that
// tests can't use: third-party programs that speak the real protocols.
//
// The words:
//
//   - A counterpart is such a program: fake-gcs-server for Google's storage, Azurite for Azure's,
//     Pebble for an ACME authority.
//   - A [Front] is a proxy in front of one, where a test makes requests fail.
//
// Their versions are pinned in programs, a separate module, so that nothing of them is in Locket's
// go.mod. The first test that needs a program builds or installs it; if that fails, so does the
// test.
package testservers

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a program may take to start, on a busy machine.
const patience = 10 * time.Minute

// root is the folder of Locket's go.mod.
func root(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		tb.Fatalf("go env GOMOD: %v", err)
	}
	mod := strings.TrimSpace(string(out))
	if filepath.Base(mod) != "go.mod" {
		tb.Fatalf("no go.mod is above this test: %q", mod)
	}
	return filepath.Dir(mod)
}

func programs(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(root(tb), "internal", "testing", "testservers", "programs")
}

// goTool returns the path of a Go program, and builds it if needed: Go caches it like other builds.
func goTool(tb testing.TB, name string) string {
	tb.Helper()
	cmd := exec.Command("go", "tool", "-n", name)
	cmd.Dir = programs(tb)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("build %s: %v: %s", name, err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimSpace(string(out))
}

// npmFolder returns the folder with the packages of package-lock.json, and installs them if needed.
// Their scripts are not run.
func npmFolder(tb testing.TB) string {
	tb.Helper()
	from := programs(tb)
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		tb.Fatal(err)
	}
	dir := filepath.Join(root(tb), ".cache", fmt.Sprintf("npm-%x", sha256.Sum256(lock))[:20])
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		tb.Fatal(err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "npm-*")
	if err != nil {
		tb.Fatal(err)
	}
	defer os.RemoveAll(tmp) // unless it was renamed
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(tmp, name), b, 0o644)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	cmd := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("npm ci (Node is needed: https://nodejs.org): %v: %s", err, bytes.TrimSpace(out))
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // otherwise another test was first
			tb.Fatal(err)
		}
	}
	return dir
}

// program is a program that runs until its test ends.
type program struct {
	cmd   *exec.Cmd
	lines chan string // lines of its output
	ended chan struct{}

	mu   sync.Mutex
	said strings.Builder
}

// start runs a program; await waits for its output.
func start(tb testing.TB, path string, args, env []string) *program {
	tb.Helper()
	p := &program{cmd: exec.Command(path, args...), lines: make(chan string, 1000), ended: make(chan struct{})}
	p.cmd.Dir = tb.TempDir()
	p.cmd.Env = append(os.Environ(), env...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout // one pipe, which keeps the order
	endWithParent(p.cmd)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel watches the thread that started it
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		defer close(p.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.mu.Lock()
			fmt.Fprintln(&p.said, lines.Text())
			p.mu.Unlock()
			select {
			case p.lines <- lines.Text():
			default: // nobody is waiting any more
			}
		}
		_ = p.cmd.Wait() // killed
	}()
	if err := <-started; err != nil {
		tb.Fatalf("start %s: %v", filepath.Base(path), err)
	}
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
	})
	return p
}

// await returns what follows a mark in a line of the program's output; "", false if it ends before.
func (p *program) await(tb testing.TB, mark string) (string, bool) {
	tb.Helper()
	late := time.After(patience)
	for {
		select {
		case line := <-p.lines:
			if _, rest, ok := strings.Cut(line, mark); ok {
				return rest, true
			}
		case <-p.ended:
			return "", false
		case <-late:
			tb.Fatalf("it does not say %q: %s", mark, p.log())
		}
	}
}

// log returns its entire output.
func (p *program) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}
