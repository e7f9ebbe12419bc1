package node

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/plugintest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/plugins"
)

// flowing returns the settings of a home whose events go only through one
// installed plugin.
func flowing(home string) (config.Config, error) {
	cfg := config.Config{Home: home, Wearer: "Ana", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 1e6}}
	var err error
	cfg.Plugins.Disabled, err = builtIn()
	cfg.Defaults()
	return cfg, err
}

// builtIn returns the ids of the built-in plugins.
func builtIn() (ids []string, err error) {
	all, err := plugins.All()
	for _, b := range all {
		ids = append(ids, b.Manifest.ID)
	}
	return ids, err
}

func openFlowing(ctx context.Context, home string) (*Node, error) {
	cfg, err := flowing(home)
	if err != nil {
		return nil, err
	}
	worker, err := wasm.SelfWorker()
	if err != nil {
		return nil, err
	}
	n, err := Open(cfg, Options{Worker: worker})
	if err != nil {
		return nil, err
	}
	if _, err := n.UnlockAsConfigured(ctx); err != nil {
		return nil, err
	}
	return n, nil
}

func flowEvent(seq uint64) memory.Event {
	at := time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC).Add(time.Duration(seq) * time.Second)
	return memory.Event{ID: memory.EventID{Device: "pin", Boot: 1, Seq: seq}, Kind: memory.KindText, At: at, Received: at, Clock: memory.ClockWall,
		Text: fmt.Sprintf("Line %d.", seq), Speaker: "Ana"}
}

// change adds, changes or removes the plugin; each version is a different one.
func change(ctx context.Context, n *Node, step int) error {
	const id = "suite/silent"
	switch step % 5 {
	case 3:
		if _, err := n.EnablePlugin(ctx, id, false); err != nil {
			return err
		}
		_, err := n.EnablePlugin(ctx, id, true)
		return err
	case 4:
		return n.RemovePlugin(ctx, id)
	}
	_, err := n.InstallPlugin(ctx, plugintest.Silent(fmt.Sprintf("1.%d.0", step), ""))
	return err
}

// checkFlow checks that every event up to last was processed once, and went to
// the plugin at most once, in versions that only grow.
func checkFlow(t *testing.T, n *Node, last uint64) {
	t.Helper()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	said := map[uint64]int{}
	err = o.store.View(t.Context(), func(tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			said[u.Event.Seq]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	newest := 0
	for seq := uint64(1); seq <= last; seq++ {
		if said[seq] != 1 {
			t.Errorf("event %d is there %d times", seq, said[seq])
		}
		trace, err := o.extract.TraceOf(t.Context(), flowEvent(seq).ID)
		if err != nil {
			t.Errorf("event %d: %v", seq, err)
			continue
		}
		if len(trace.Steps) > 1 {
			t.Errorf("event %d went to the plugin %d times", seq, len(trace.Steps))
		}
		for _, s := range trace.Steps {
			_, minor, _ := strings.Cut(strings.TrimSuffix(s.Version, ".0"), ".")
			v, err := strconv.Atoi(minor)
			if err != nil || v < newest || s.Fault != "" {
				t.Errorf("event %d went to version %s after 1.%d.0: %s, %v", seq, s.Version, newest, s.Fault, err)
			}
			newest = v
		}
	}
}

// TestPluginsChangeWhileEventsFlow: while a stream of events is processed, a
// plugin is installed, upgraded, turned off and on, and removed.
func TestPluginsChangeWhileEventsFlow(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	cfg, err := flowing(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	n, err := openFlowing(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	const last = 400
	var flow sync.WaitGroup
	flow.Go(func() {
		for seq := uint64(1); seq <= last; seq++ {
			if err := n.writer().Append(t.Context(), []memory.Event{flowEvent(seq)}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for step := range 14 {
		if err := change(t.Context(), n, step); err != nil {
			t.Fatal(step, err)
		}
	}
	flow.Wait()
	if err := n.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkFlow(t, n, last)
	v, err := n.Plugin(t.Context(), "suite/silent")
	if err != nil || v.Version != "1.12.0" || v.State != serve.PluginRuns {
		t.Errorf("%+v, %v", v, err)
	}
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := o.process(t.Context(), flowEvent(last+1)); err != nil {
		t.Fatal(err)
	}
	if trace, err := o.extract.TraceOf(t.Context(), flowEvent(last+1).ID); err != nil || len(trace.Steps) != 1 || trace.Steps[0].Version != "1.12.0" {
		t.Errorf("after all of it: %+v, %v", trace, err)
	}
}

// flowHome is set in a process that is to be killed.
const flowHome = "LOCKET_NODE_TEST_FLOW"

// runFlow takes events and changes plugins until it is killed, and prints each
// event that is on disk.
func runFlow() error {
	ctx := context.Background()
	n, err := openFlowing(ctx, os.Getenv(flowHome))
	if err != nil {
		return err
	}
	if err := n.Start(ctx); err != nil {
		return err
	}
	from, err := strconv.Atoi(os.Getenv(flowHome + "_FROM"))
	if err != nil {
		return err
	}
	go func() {
		for seq := uint64(from) + 1; ; seq++ {
			if err := n.writer().Append(ctx, []memory.Event{flowEvent(seq)}); err != nil {
				return
			}
			fmt.Println(seq)
		}
	}()
	for step := from; ; step++ { // versions grow over the rounds
		if err := change(ctx, n, step); err != nil && step > from+5 {
			return err
		}
	}
}

// TestKilledWhilePluginsChange: after a SIGKILL at any moment, each event that
// was taken is there once, and the plugin is there in one version, or not at
// all.
func TestKilledWhilePluginsChange(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	cfg, err := flowing(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Init(cfg, InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var last uint64
	for range 3 {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), flowHome+"="+home, fmt.Sprintf("%s_FROM=%d", flowHome, last))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		stopAt := last + 20 + rng.Uint64N(60)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if seq, err := strconv.ParseUint(lines.Text(), 10, 64); err == nil {
				last = seq
			}
			if last >= stopAt {
				break
			}
		}
		_ = cmd.Process.Kill() // it may have ended, which the check below reports
		_ = cmd.Wait()
		if last < stopAt {
			t.Fatalf("it ended by itself at %d: %s", last, stderr.String())
		}
		n, err := openFlowing(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		checkFlow(t, n, last)
		list, err := n.Plugins(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, p := range list {
			if p.Source == serve.PluginInstalled && p.State != serve.PluginRuns && p.State != serve.PluginOff {
				t.Errorf("%+v", p)
			}
		}
		// An event that was on disk, but not reported, counts as well.
		for seq := last + 1; ; seq++ {
			o, release, err := n.use()
			if err != nil {
				t.Fatal(err)
			}
			_, err = o.extract.TraceOf(t.Context(), flowEvent(seq).ID)
			release()
			if err != nil {
				break
			}
			last = seq
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
