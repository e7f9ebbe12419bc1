package main

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

	"github.com/locket-dev/locket/node/serve"
)

// Work that takes longer than patient says on standard error how far it is: on a
// terminal in one line that goes again, with --json an object each second, and
// else nothing.
const (
	patient      = time.Second
	meterRefresh = 200 * time.Millisecond
)

// meter counts work. Its methods may be called at the same time, but for end.
type meter struct {
	what, unit  string // "export", "records"; no unit: only the time passes
	done, total atomic.Int64
	stop        chan struct{}
	running     sync.WaitGroup
}

// meter begins one; total 0 is not known. The caller ends it.
func (a *app) meter(what, unit string, total int) *meter {
	m := &meter{what: what, unit: unit, stop: make(chan struct{})}
	m.total.Store(int64(total))
	f, ok := a.stderr.(*os.File)
	if onTerminal := ok && term.IsTerminal(int(f.Fd())); onTerminal || a.json {
		m.running.Go(func() { m.show(a.stderr, onTerminal && !a.json) })
	}
	return m
}

// end returns once nothing more is written.
func (m *meter) end() {
	close(m.stop)
	m.running.Wait()
}

func (m *meter) show(w io.Writer, line bool) {
	began := time.Now()
	every := time.Second
	if line {
		every = meterRefresh
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	shown := false
	for {
		select {
		case <-m.stop:
			if shown && line {
				fmt.Fprint(w, "\r\x1b[K")
			}
			return
		case <-tick.C:
		}
		p := m.at(time.Since(began))
		if p.Seconds < patient.Seconds() {
			continue
		}
		shown = true
		if line {
			fmt.Fprintf(w, "\r\x1b[K%s", p)
		} else {
			_ = json.NewEncoder(w).Encode(struct { // nowhere is left to tell
				Progress progress `json:"progress"`
			}{p})
		}
	}
}

// progress is how far something is.
type progress struct {
	What    string  `json:"what"`
	Unit    string  `json:"unit,omitempty"`
	Done    int64   `json:"done"`
	Total   int64   `json:"total,omitempty"` // 0: not known
	Seconds float64 `json:"seconds"`
	Left    float64 `json:"seconds_left,omitempty"` // 0: not known
}

func (m *meter) at(passed time.Duration) progress {
	p := progress{m.what, m.unit, m.done.Load(), m.total.Load(), passed.Seconds(), 0}
	if p.Done > 0 && p.Total >= p.Done {
		p.Left = p.Seconds * float64(p.Total-p.Done) / float64(p.Done)
	}
	return p
}

// String is one line.
func (p progress) String() string {
	switch {
	case p.Unit == "":
		return fmt.Sprintf("%s: %.0f s", p.What, p.Seconds)
	case p.Total == 0 || p.Total < p.Done:
		return fmt.Sprintf("%s: %d %s, %.0f s", p.What, p.Done, p.Unit, p.Seconds)
	}
	return fmt.Sprintf("%s: %d of %d %s, %.0f s left", p.What, p.Done, p.Total, p.Unit, p.Left)
}

// counted counts the records of an export on their way.
func (m *meter) counted(records iter.Seq2[serve.ExportRecord, error]) iter.Seq2[serve.ExportRecord, error] {
	return func(yield func(serve.ExportRecord, error) bool) {
		for r, err := range records {
			m.done.Add(1)
			if !yield(r, err) {
				return
			}
		}
	}
}

// countedReader counts what is read, in kilobytes.
func (m *meter) countedReader(r io.Reader) io.Reader { return &countingReader{r: r, m: m} }

type countingReader struct {
	r    io.Reader
	m    *meter
	rest int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.rest += int64(n)
	c.m.done.Add(c.rest / 1000)
	c.rest %= 1000
	return n, err
}
