package e2e

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// trendTime is how long a process must have run, after warming up for as long, before its trend is
// meaningful.
const trendTime = 5 * time.Minute

// spare is how many goroutines of one place may come and go: each open connection has one or two.
const spare = 4

// sample is the state of a process at a time.
type sample struct {
	at      time.Time
	pid     int
	live    float64 // MB of its heap that were in use after the last collection
	held    float64 // MB that do not belong to a file
	plugins float64 // MB of its heap that are plugins' linear memories
	files   float64 // open files, without a store's tables, whose number rises as a home fills
	lines   float64 // lines that all wearables together have said
}

// look takes a sample. The caller holds the process's turn.
func (p *proc) look() (sample, error) {
	x := sample{at: time.Now(), pid: p.pid(), live: p.heap.live()}
	dir := fmt.Sprintf("/proc/%d/fd", x.pid)
	files, err := os.ReadDir(dir)
	if err != nil {
		return x, err
	}
	for _, f := range files {
		if to, _ := os.Readlink(filepath.Join(dir, f.Name())); filepath.Ext(to) != ".sst" {
			x.files++
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", x.pid))
	if err != nil {
		return x, err
	}
	_, rest, _ := bytes.Cut(status, []byte("RssAnon:"))
	kb, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
	if err != nil {
		return x, err
	}
	x.held = kb / 1024
	return x, nil
}

// goroutines ends a process, counts its goroutines by where they were started, and starts it again.
func (s *soak) goroutines(p *proc) map[string]int {
	s.t.Helper()
	s.mu.Lock()
	p.clock = nil
	s.mu.Unlock()
	p.quit()
	stacks := p.log()
	stacks = stacks[max(0, strings.LastIndex(stacks, "SIGQUIT: quit")):] // the log covers all runs
	count := map[string]int{}
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		if !strings.HasPrefix(stack, "goroutine ") {
			continue
		}
		from := "the runtime"
		if _, by, ok := strings.Cut(stack, "\ncreated by "); ok {
			from, _, _ = strings.Cut(by, " in goroutine ")
		}
		count[from]++
		count["all"]++
	}
	if count["all"] < 3 {
		s.t.Errorf("%s shows no goroutines: %s", p.name, stacks)
	}
	if err := p.start(); err != nil {
		s.t.Fatal(err)
	}
	return count
}

// rest lets every process finish its work, and returns the goroutines that are left.
func (s *soak) rest() map[*proc]map[string]int {
	s.t.Helper()
	for i, n := range s.nodes {
		acknowledged(s.t, say(s.t, s.devices[i], "Ana", "I live in Lisbon now."))
		n.must("search", "where does Ana live")
		n.must("sync", "--now")
	}
	heard, err := s.devices[0].Publish(s.t.Context(), &wire.Audio{Header: wire.Header{At: s.now()}, Codec: "wav", Data: audio.Speech(), Last: true})
	if err != nil {
		s.t.Fatal(err)
	}
	acknowledged(s.t, heard)
	s.until("the worker hears", func() bool {
		s.nodes[0].try("grant", "tend")
		return len(s.nodes[0].heard()[result.TagTranscript]) > 0
	}, s.nodes[0].d.log.String)
	wait(5 * time.Second)
	start := map[*proc]map[string]int{}
	for _, p := range s.procs {
		start[p] = s.goroutines(p)
	}
	return start
}

// watch takes samples of all running processes, until stop.
func (s *soak) watch(stop <-chan struct{}) {
	tick := time.NewTicker(max(time.Second, min(30*time.Second, *soakFor/30)))
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		for _, p := range s.procs {
			if p.turn.TryLock() {
				s.take(p)
			}
		}
	}
}

// take takes a sample of a process whose turn is held, and releases it.
func (s *soak) take(p *proc) {
	defer p.turn.Unlock()
	x, err := p.look()
	if err != nil {
		text := p.log()
		s.t.Errorf("%s has ended: %v\n%s", p.name, err, text[max(0, len(text)-20_000):])
		return
	}
	x.lines = float64(s.lines.Load())
	if p.plugins != nil {
		var ok bool
		if x.plugins, ok = p.plugins(); !ok {
			s.logf("%s does not say what its plugins hold", p.name)
			return
		}
	}
	if x.live > 0 {
		p.samples = append(p.samples, x)
	}
}

// flat checks that no process that was never killed has grown, and that all have as many goroutines
// as at the start.
func (s *soak) flat(start map[*proc]map[string]int) {
	s.t.Helper()
	for _, p := range s.procs {
		x, err := p.look()
		if err != nil {
			s.t.Errorf("%s: %v", p.name, err)
			continue
		}
		if x.live == 0 {
			s.t.Errorf("%s told of no collection: Go may write them otherwise now", p.name)
		}
		lived := slices.DeleteFunc(p.samples, func(y sample) bool { return y.pid != x.pid })
		late := lived[len(lived)/2:]
		if len(late) == 0 || late[len(late)-1].at.Sub(late[0].at) < trendTime {
			s.logf("%-8s lives too short for a trend", p.name)
		} else {
			for _, k := range p.may.kinds(late) {
				slope, noise, leaks := k.leaks(late)
				s.logf("%-8s has %4.0f %s, and grows by %.2f an hour, ±%.2f, over %d samples; %.1f may come in them", p.name, k.of(late[len(late)-1]), k.name, slope, noise, len(late), k.may)
				if leaks {
					s.t.Errorf("%s grows by %.2f %s an hour, which is more than noise, ±%.2f, and what fills it: %.1f", p.name, slope, k.name, noise, k.may)
				}
			}
		}
		now := s.goroutines(p)
		s.logf("%-8s has %d goroutines, and had %d", p.name, now["all"], start[p]["all"])
		for from, n := range now {
			if was := start[p][from]; n > was+spare && from != "all" {
				s.t.Errorf("%s has %d goroutines of %s, and had %d", p.name, n, from, was)
			}
		}
	}
}

// trend returns the slope of the line by least squares through samples, in units an hour, and twice
// its standard error. Neighbouring samples are similar, so they count as fewer: n(1-r)/(1+r) for
// their correlation r (Santer et al., 2000, section 4).
func trend(samples []sample, of func(sample) float64) (slope, noise float64) {
	n := float64(len(samples))
	if n < 4 {
		return 0, math.Inf(1)
	}
	var mx, my float64
	x, y := make([]float64, len(samples)), make([]float64, len(samples))
	for i, s := range samples {
		x[i], y[i] = s.at.Sub(samples[0].at).Hours(), of(s)
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	var xx, xy float64
	for i := range x {
		xx, xy = xx+(x[i]-mx)*(x[i]-mx), xy+(x[i]-mx)*(y[i]-my)
	}
	slope = xy / xx
	var ee, ef, last float64
	for i := range x {
		e := y[i] - my - slope*(x[i]-mx)
		ee, ef, last = ee+e*e, ef+e*last, e
	}
	r := 0.0
	if ee > 0 {
		r = max(0, ef/ee)
	}
	few := max(n*(1-r)/(1+r)-2, 1)
	return slope, 2 * math.Sqrt(ee/few/xx)
}

// A leak that is hidden in the swings of a collector is distinguished from the swings alone.
func TestTrendDetectsALeak(t *testing.T) {
	of := func(leak float64) (slope, noise float64) {
		var xs []sample
		for i := range 120 { // an hour
			swing := 20 * math.Abs(math.Mod(float64(i)/7, 1)-.5)
			xs = append(xs, sample{at: time.Time{}.Add(time.Duration(i) * 30 * time.Second), held: 60 + swing + leak*float64(i)/120})
		}
		return trend(xs, func(x sample) float64 { return x.held })
	}
	if slope, noise := of(0); slope > noise {
		t.Errorf("swings alone: %.2f ± %.2f", slope, noise)
	}
	if slope, noise := of(6); slope <= noise || math.Abs(slope-6) > noise {
		t.Errorf("a leak of 6 MB an hour: %.2f ± %.2f", slope, noise)
	}
}

// A node whose plugins and caches fill up, as in a soak of 20 minutes, does not leak. With an
// additional leak, it does.
func TestFillingCachesAreNoLeak(t *testing.T) {
	for _, c := range []struct {
		leak float64 // MB an hour
		want bool
	}{{0, false}, {60, true}} {
		var xs []sample
		for i := range 60 { // half an hour
			hours := float64(i) / 120
			x := sample{at: time.Time{}.Add(time.Duration(i) * 30 * time.Second), files: 30, lines: float64(i * 60)}
			x.plugins = 27 + 21*min(1, hours*5)
			x.live = x.plugins + 20 + 15*min(1, hours*3) + .0015*x.lines + c.leak*hours
			x.held = 25 + x.live*(1.25+.5*math.Abs(math.Mod(float64(i)/7, 1)-.5))
			xs = append(xs, x)
		}
		for _, k := range nodeGrowth.kinds(xs) {
			if slope, noise, leaks := k.leaks(xs); leaks != c.want && k.name != "files" {
				t.Errorf("a leak of %.0f MB an hour, %s: %.1f ± %.1f, and %.1f may come", c.leak, k.name, slope, noise, k.may)
			}
		}
	}
}
