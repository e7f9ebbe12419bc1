package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// liveAfter finds in a line of Go's collector how many MB were still in use.
var liveAfter = regexp.MustCompile(`^gc \d+ @.* \d+->\d+->(\d+) MB, `)

// collections extracts the collector's lines from a process's stderr. The memory of a process grows
// by half the heap or more between two collections, but what is in use right after one stays level.
type collections struct {
	to io.Writer

	mu   sync.Mutex
	part []byte  // part of a line
	mb   float64 // in use after the last collection; 0: there was none
}

// collect makes a program that is not started yet report its collections.
func collect(cmd *exec.Cmd) *collections {
	c := &collections{to: cmd.Stderr}
	cmd.Stderr, cmd.Env = c, append(cmd.Environ(), "GODEBUG=gctrace=1")
	return c
}

func (c *collections) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.part = append(c.part, p...)
	for {
		line, rest, whole := bytes.Cut(c.part, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if m := liveAfter.FindSubmatch(line); m != nil {
			c.mb, _ = strconv.ParseFloat(string(m[1]), 64)
		} else if _, err := c.to.Write(c.part[:len(line)+1]); err != nil {
			return 0, err
		}
		c.part = rest
	}
}

func (c *collections) live() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mb
}

// growth is by how much a process may grow that keeps nothing unnecessary.
type growth struct {
	room    float64 // MB of caches and the like, which have a limit
	line    float64 // MB of its heap for each line that is said
	garbage float64 // how large the heap may be when it is collected, as a multiple of what is in use
}

var (
	// nodeGrowth: Badger has a second table in memory while it writes the first one, which takes 5
	// MB and as much for the builder; its caches take 4 MB each. A line adds an utterance, an entry
	// of the index and a third of a memory.
	nodeGrowth = growth{room: 20, line: .002, garbage: 1.5}
	// relayGrowth: Go doesn't collect below 4 MB. A relay keeps some 20 bytes for each request, so
	// that nobody repeats it. It does so for 20 minutes, or for ten hours if the clock went
	// forward, up to 40 MB.
	relayGrowth  = growth{room: 4, line: .0005, garbage: 2}
	workerGrowth = growth{room: 4, garbage: 2}
)

// kind is something that may grow in a process.
type kind struct {
	name string
	of   func(sample) float64
	may  float64 // allowed growth without a leak, over all these samples
}

// kinds returns what is checked. A plugin's linear memory never shrinks. It grows until its
// collector has run a few times, and how soon that is depends on what is said: see
// TestMemoryLevelsOff. So it is subtracted.
func (g growth) kinds(samples []sample) []kind {
	if len(samples) == 0 {
		return nil
	}
	fills := g.room + g.line*(samples[len(samples)-1].lines-samples[0].lines)
	return []kind{
		{"MB in use", func(x sample) float64 { return x.live - x.plugins }, fills},
		{"MB held", func(x sample) float64 { return x.held - g.garbage*x.plugins }, g.garbage * fills},
		{"files", func(x sample) float64 { return x.files }, spare},
	}
}

// leaks reports whether samples grow by more than noise and the allowed growth.
func (k kind) leaks(samples []sample) (slope, noise float64, yes bool) {
	slope, noise = trend(samples, k.of)
	hours := samples[len(samples)-1].at.Sub(samples[0].at).Hours()
	return slope, noise, (slope-noise)*hours > k.may
}

// linear returns how many MB of linear memory the plugins of a home's daemon have, and whether it
// reports that.
func (h *home) linear() (mb float64, ok bool) {
	h.t.Helper()
	out, _, code := h.try("--json", "plugin", "list")
	if code != 0 {
		return 0, false
	}
	for line := range strings.Lines(out) {
		var p struct {
			Peak float64 `json:"peak_bytes"`
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return 0, false
		}
		mb += p.Peak / (1 << 20)
	}
	return mb, true
}

// The collector's lines are read, however they are split, and all others are passed on.
func TestReadCollectorTrace(t *testing.T) {
	var to bytes.Buffer
	c := &collections{to: &to}
	said := "one\ngc 12 @3.405s 1%: 0.04+2.5+0.01 ms clock, 0.09+0.3/2.1/4.0+0.03 ms cpu, 40->52->33 MB, 49 MB goal, 0 MB stacks, 0 MB globals, 2 P\n" +
		"gc of nothing\ngc 13 @4.1s 1%: 0.04+2.5+0.01 ms clock, 0.09+0.3/2.1/4.0+0.03 ms cpu, 41->53->35 MB, 49 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)\nhalf"
	for _, b := range []byte(said) {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if to.String() != "one\ngc of nothing\n" || c.live() != 35 {
		t.Errorf("%v MB, and %q goes on", c.live(), to.String())
	}
}
