package wasm

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// Usage is what one call used.
type Usage struct {
	Fuel    int64         // after a trap: at least this much
	Time    time.Duration // on the wall clock
	Late    bool          // Time exceeded the plugin's limit
	Memory  int           // bytes of linear memory after the call
	In, Out int           // sizes of the messages in bytes
	Lines   int           // lines logged
	Fresh   bool          // the instance's first call
	Dropped []Drop        // candidates that were dropped
}

// Drop is a candidate that was left out of the answer, and the reason; its index is that in the
// plugin's list.
type Drop struct {
	Index  int
	Reason error // an *abi.Error
}

// Stats is a snapshot of a plugin's activity since it was loaded.
type Stats struct {
	Calls      uint64
	Faults     map[FaultKind]uint64
	InARow     int // faults since the last clean call, without starved ones
	Disabled   bool
	Fuel       uint64
	Time       time.Duration
	Late       uint64 // calls that exceeded the time limit
	Candidates uint64 // without dropped ones
	PeakMemory int    // bytes
	PeakFuel   int64
	Instances  int // at present
	Starts     uint64
}

// tally collects Stats.
type tally struct {
	disabled  atomic.Bool
	instances atomic.Int64
	starts    atomic.Uint64

	mu    sync.Mutex
	s     Stats
	since time.Time // since when it is disabled; zero: it is not
}

func (t *tally) started() {
	t.instances.Add(1)
	t.starts.Add(1)
}

func (t *tally) add(u Usage) {
	t.s.Calls++
	t.s.Fuel += uint64(max(u.Fuel, 0))
	t.s.Time += u.Time
	t.s.Candidates += uint64(len(u.Dropped))
	t.s.PeakMemory = max(t.s.PeakMemory, u.Memory)
	t.s.PeakFuel = max(t.s.PeakFuel, u.Fuel)
	if u.Late {
		t.s.Late++
	}
}

func (t *tally) clean(u Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(u)
	t.s.InARow = 0
}

// fault counts a fault, and reports whether it disables the plugin.
func (t *tally) fault(k FaultKind, u Usage, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(u)
	if t.s.Faults == nil {
		t.s.Faults = map[FaultKind]uint64{}
	}
	t.s.Faults[k]++
	if k == FaultStarved {
		return false
	}
	t.s.InARow++
	if t.s.InARow >= most {
		t.disabled.Store(true)
		t.since = time.Now()
	}
	return t.s.InARow >= most
}

func (t *tally) enable() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.InARow = 0
	t.since = time.Time{}
	t.disabled.Store(false)
}

// Stats returns a snapshot without waiting for calls.
func (p *Plugin) Stats() Stats {
	t := &p.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.s
	s.Faults = make(map[FaultKind]uint64, len(t.s.Faults))
	maps.Copy(s.Faults, t.s.Faults)
	s.Disabled = t.disabled.Load()
	s.Instances = int(t.instances.Load())
	s.Starts = t.starts.Load()
	return s
}
