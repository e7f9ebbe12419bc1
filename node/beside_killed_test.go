package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/long"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// hearingEnv has the home of a process that hears, as JSON.
const hearingEnv = "LOCKET_NODE_TEST_HEARING"

// hearing is a home in which recordings wait, with the folder of its compiled
// plugins.
type hearing struct{ Home, Cache string }

func (h hearing) config() config.Config {
	cfg := config.Config{Home: h.Home, Wearer: "Ana", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 1e6}}
	cfg.Defaults()
	return cfg
}

func (h hearing) open(ctx context.Context) (*Node, error) {
	n, err := Open(h.config(), Options{Cache: h.Cache})
	if err == nil {
		_, err = n.UnlockAsConfigured(ctx)
	}
	return n, err
}

// runHearing hears until it is killed.
func runHearing() error {
	var h hearing
	if err := json.Unmarshal([]byte(os.Getenv(hearingEnv)), &h); err != nil {
		return err
	}
	n, err := h.open(context.Background())
	if err == nil {
		err = n.Start(context.Background())
	}
	if err != nil {
		return err
	}
	select {}
}

// childrenOf returns the processes that a process has started (proc(5), children).
func childrenOf(t *testing.T, pid int) (out []int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f) // a thread that has ended has none
		for _, s := range strings.Fields(string(b)) {
			child, wrong := strconv.Atoi(s)
			err = errors.Join(err, wrong)
			out = append(out, child)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Each utterance gets its words once, at whatever time the daemon or the engine's
// process is killed: before, while or after the engine answers. KILLS sets the number
// of rounds.
func TestTranscriptionSurvivesKills(t *testing.T) {
	t.Parallel()
	rounds := long.Kills(t, 8)
	recordings := max(6, rounds*3/4)
	s := speechtest.Whisper(t)
	h := hearing{filepath.Join(t.TempDir(), "home"), compiled}
	if _, err := Init(h.config(), InitOptions{KeyFile: true}); err != nil {
		t.Fatal(err)
	}
	n, err := h.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	addEngine(t, n, "ears", s.URL)
	for i := range recordings {
		sounds(t, n, evening.Add(time.Duration(i)*time.Minute))
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	sample := len(s.Heard())
	took := make(chan int, 100) // how many arrived
	s.Says(func([]byte) string {
		select {
		case took <- 1:
		default:
		}
		return "Lena is allergic to peanuts."
	})
	for i := range rounds {
		round := i % 8 // of the delays
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
		cmd.Env = append(os.Environ(), hearingEnv+"="+string(b))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 { // during the first or second answer, or just after it arrived
			for range round/4 + 1 {
				select {
				case <-took:
				case <-time.After(time.Duration(300+100*round) * time.Millisecond): // everything may be done already
				}
			}
		} else {
			wait.For(t.Context(), time.Duration(round)*120*time.Millisecond)
		}
		if round%3 == 1 { // kill the engine's process first, so that the daemon sees its end
			for _, pid := range childrenOf(t, cmd.Process.Pid) {
				if child, err := os.FindProcess(pid); err == nil {
					_ = child.Kill() // it may have ended
				}
			}
			wait.For(t.Context(), time.Duration(round)*10*time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		if stderr.Len() > 0 {
			t.Fatal(stderr.String())
		}
	}
	if n, err = h.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all words", func() bool { return engineOfKind(t, n, "ears").Waiting == 0 })
	lines := heardBy(t, n)
	if len(lines) != recordings {
		t.Errorf("%d lines of %d recordings: %+v", len(lines), recordings, lines)
	}
	events := map[memory.EventID]bool{}
	for _, u := range lines {
		events[u.Event] = true
	}
	if len(events) != recordings {
		t.Errorf("of %d recordings only", len(events))
	}
	t.Logf("%d recordings were sent for %d", len(s.Heard())-sample, recordings)
}
