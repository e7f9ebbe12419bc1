//go:build linux

package powerloss

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/wasm"
)

var (
	every = flag.Bool("every", false, "open each cut; else a sample of at most -sample")
	most  = flag.Int("sample", 24, "how many cuts of a replay are opened without -every")
	deaf  = flag.String("deaf", "", "syncs of paths that hold this have no effect: the test is to fail")
)

// replays are what a child process of the test may do on the layer. root is its folder; an
// acknowledgement is on the layer when ack returns.
var replays = map[string]func(root string, ack func(string) error) error{}

const childEnv = "LOCKET_POWERLOSS"

func TestMain(m *testing.M) {
	if wasm.IsWorker(os.Args) {
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	name, root, child := strings.Cut(os.Getenv(childEnv), "|")
	if !child {
		os.Exit(m.Run())
	}
	if err := replayIn(name, root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func replayIn(name, root string) error {
	acks, err := os.OpenFile(filepath.Join(root, ackName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(replays[name](root, func(what string) error {
		_, err := fmt.Fprintln(acks, what)
		return err
	}), acks.Close())
}

// replay runs a replay in a separate process, and returns its cuts.
func replay(t *testing.T, name string, named bool) []cut {
	t.Helper()
	l, dir := mount(t)
	l.named = named
	if *deaf != "" {
		l.deaf = func(path string) bool { return strings.Contains(path, *deaf) }
	}
	l.watch = true
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+name+"|"+dir)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = false
	if len(l.acks) == 0 || len(l.cuts) == 0 {
		t.Fatalf("%d acknowledged at %d syncs: %s", len(l.acks), len(l.cuts), stderr.String())
	}
	return l.cuts
}

// open checks all cuts, or a sample that is spread over the replay and includes the last. check
// gets a folder with the disk of one.
func open(t *testing.T, cuts []cut, check func(dir string, acks []string) error) {
	t.Helper()
	openSome(t, cuts, *most, check)
}

// openSome opens at most most of them, without -every.
func openSome(t *testing.T, cuts []cut, most int, check func(dir string, acks []string) error) {
	t.Helper()
	step := 1
	if !*every {
		step = max(1, (len(cuts)+most-1)/most)
	}
	opened, seen := 0, map[uint64]int{}
	for i := (len(cuts) - 1) % step; i < len(cuts); i += step {
		c := &cuts[i]
		for what, f := range map[string]*frozen{"cut": c.disk, "torn cut": c.torn} {
			sum := f.sum()
			if n, ok := seen[sum]; ok && n == len(c.acks) {
				continue
			}
			seen[sum] = len(c.acks)
			opened++
			dir, err := os.MkdirTemp("", "locket-cut")
			if err == nil {
				err = f.write(dir)
			}
			if err == nil {
				err = check(dir, c.acks)
			}
			if err != nil {
				t.Errorf("%s at %s, with %d acknowledged: %v", what, c.at, len(c.acks), err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d syncs, %d cuts opened, %d acknowledged at the last", len(cuts), opened, len(cuts[len(cuts)-1].acks))
}
