// Package meter shows the progress of long work to a person or a program.
//
// Work that takes longer than a second reports its progress on standard error: on a terminal as one
// line that is removed at the end, with --json as one object a second, and otherwise not at all.
package meter

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/locket-dev/locket/internal/progress"
)

const (
	patient = time.Second     // work that takes no longer shows nothing
	untold  = 2 * time.Second // after this, the sentence of Explain is printed
	refresh = 200 * time.Millisecond
)

// Meter counts work. Its methods are safe for concurrent use, except End.
type Meter struct {
	*progress.Gauge
	what, unit string    // "export", "records"; without a unit only the time is shown
	w          io.Writer // nil if nothing is shown
	onTerminal bool      // one line that is rewritten; otherwise one object a second
	stop       chan struct{}
	running    sync.WaitGroup
	uneven     atomic.Bool // no time left is shown

	mu    sync.Mutex // guards the output on the terminal
	shown bool       // a progress line is on the terminal
}

// Start starts a meter that shows on stderr what g counts: as objects if json is set. The caller
// must call End.
func Start(stderr io.Writer, json bool, g *progress.Gauge, what, unit string) *Meter {
	m := &Meter{Gauge: g, what: what, unit: unit, stop: make(chan struct{})}
	f, ok := stderr.(*os.File)
	m.onTerminal = ok && term.IsTerminal(int(f.Fd())) && !json
	if m.onTerminal || json {
		m.w = stderr
		m.running.Go(m.show)
	}
	return m
}

// Explain makes a meter also print a sentence once the work has taken two seconds, but not with
// --json.
func (m *Meter) Explain(w io.Writer, sentence string) {
	if m.w != nil && !m.onTerminal {
		return
	}
	m.running.Go(func() {
		late := time.NewTimer(untold)
		defer late.Stop()
		select {
		case <-m.stop:
		case <-late.C:
			m.PrintAbove(func() { fmt.Fprintln(w, sentence) })
		}
	})
}

// WithoutEstimate makes a meter show no time left, because the pieces of work take different times.
func (m *Meter) WithoutEstimate() { m.uneven.Store(true) }

// End returns once nothing more is written.
func (m *Meter) End() {
	close(m.stop)
	m.running.Wait()
}

// PrintAbove removes the progress line and calls write, whose output stays.
func (m *Meter) PrintAbove(write func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	write()
}

// clear removes the progress line. The caller holds mu.
func (m *Meter) clear() {
	if m.shown {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.shown = false
	}
}

func (m *Meter) show() {
	began := time.Now()
	every := time.Second
	if m.onTerminal {
		every = refresh
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			m.PrintAbove(func() {})
			return
		case <-tick.C:
		}
		s := m.at(time.Since(began))
		if s.Seconds < patient.Seconds() {
			continue
		}
		m.PrintAbove(func() {
			if !m.onTerminal {
				_ = json.NewEncoder(m.w).Encode(struct { // a failure can be reported nowhere
					Progress sofar `json:"progress"`
				}{s})
				return
			}
			fmt.Fprintf(m.w, "\r\x1b[K%s", s)
			m.shown = true
		})
	}
}

// sofar is the progress of some work.
type sofar struct {
	What    string  `json:"what"`
	Unit    string  `json:"unit,omitempty"`
	Done    int64   `json:"done"`
	Total   int64   `json:"total,omitempty"` // 0 if not known
	Seconds float64 `json:"seconds"`
	Left    float64 `json:"seconds_left,omitempty"` // 0 if not known
}

func (m *Meter) at(passed time.Duration) sofar {
	p := sofar{m.what, m.unit, m.Done.Load(), m.Total.Load(), passed.Seconds(), 0}
	if p.Done > 0 && p.Total >= p.Done && !m.uneven.Load() {
		p.Left = p.Seconds * float64(p.Total-p.Done) / float64(p.Done)
	}
	return p
}

// String returns the progress as one line.
func (p sofar) String() string {
	switch {
	case p.Unit == "" || p.Done == 0 && p.Total == 0:
		return fmt.Sprintf("%s: %.0f s", p.What, p.Seconds)
	case p.Total == 0 || p.Total < p.Done:
		return fmt.Sprintf("%s: %d %s, %.0f s", p.What, p.Done, p.Unit, p.Seconds)
	case p.Left == 0 && p.Done < p.Total:
		return fmt.Sprintf("%s: %d of %d %s, %.0f s", p.What, p.Done, p.Total, p.Unit, p.Seconds)
	}
	return fmt.Sprintf("%s: %d of %d %s, %.0f s left", p.What, p.Done, p.Total, p.Unit, p.Left)
}

// CountItems counts the items of a sequence as they pass.
func CountItems[T any](m *Meter, items iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range items {
			m.Done.Add(1)
			if !yield(v, err) {
				return
			}
		}
	}
}

// Reader counts what is read, in kilobytes.
func (m *Meter) Reader(r io.Reader) io.Reader { return io.TeeReader(r, &kilobytes{m: m}) }

// Writer counts what is written, in kilobytes.
func (m *Meter) Writer(w io.Writer) io.Writer { return io.MultiWriter(w, &kilobytes{m: m}) }

// kilobytes adds the bytes written to it to a meter, in steps of a thousand.
type kilobytes struct {
	m    *Meter
	rest int // bytes that are not added yet
}

func (k *kilobytes) Write(b []byte) (int, error) {
	k.rest += len(b)
	k.m.Done.Add(int64(k.rest / 1000))
	k.rest %= 1000
	return len(b), nil
}
