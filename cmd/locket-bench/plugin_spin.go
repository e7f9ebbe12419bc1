package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/guests"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm"
)

// spinTurn is the minimum time of a turn of searches. It covers several deadlines of the spinning
// plugin, with the end of its worker and the start of the next.
const spinTurn = 500 * time.Millisecond

// spinWarm is how many searches warm up before anything counts.
const spinWarm = 2 * spinTurn

// searched is the result of a turn.
type searched struct {
	took  []float64 // ms, of each search
	pause float64   // ms, the longest for which the collector stopped this process
}

// asker searches a node of made-up lines.
type asker struct {
	life    *life
	queries []string
	at      time.Time
	count   int // of the next turns; 0: as many as there is time for
}

func newAsker(ctx context.Context, cache string, lines int) (*asker, error) {
	l, err := newLife(ctx, cache, "User")
	if err != nil {
		return nil, err
	}
	made := generate(1, lines, 50)
	s := &asker{life: l, at: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)}
	for _, q := range made.queries {
		s.queries = append(s.queries, q.text)
	}
	events := make([]day.Event, lines)
	for i, t := range made.lines {
		events[i] = said("talk", i+1, memory.Event{At: s.at.Add(time.Duration(i) * time.Minute), Zone: "UTC", Text: t.text, Speaker: "User"})
	}
	if err := l.happen(ctx, "talk", events); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// turn searches count times, or for spinTurn if count is 0.
func (s *asker) turn(ctx context.Context, least time.Duration) (out searched, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for begin, n := time.Now(), 0; s.count == 0 && time.Since(begin) < least || n < s.count; n++ {
		asked := time.Now()
		if _, err := s.life.search(ctx, s.queries[n%len(s.queries)], s.at); err != nil {
			return out, err
		}
		out.took = append(out.took, time.Since(asked).Seconds()*1000)
	}
	runtime.ReadMemStats(&after)
	for n := max(before.NumGC, after.NumGC-min(after.NumGC, 255)); n < after.NumGC; n++ {
		out.pause = max(out.pause, float64(after.PauseNs[n%256])/1e6)
	}
	return out, nil
}

// spinning calls f while a plugin spins in its worker, one call after the other, each until it is
// stopped.
func spinning(ctx context.Context, p *wasm.Plugin, f func() error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		for {
			if _, err := spinFor(ctx, p); err != nil {
				if ctx.Err() != nil {
					err = nil
				}
				ended <- err
				return
			}
		}
	}()
	err := f()
	stop()
	return errors.Join(err, <-ended)
}

// spin searches a node, in turns with and without a plugin that spins in a worker of this process.
// Both have the same number of searches, and each goes first equally often. Other load on the
// machine is mostly the same in neighbouring turns, so each turn's p99 is compared with its
// neighbour's.
func (b *pluginBench) spin(cache string, lines int) (err error) {
	if !b.has(guests.C) {
		return nil
	}
	s, err := newAsker(b.ctx, cache, lines)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.life.Close()) }()
	m := guestManifest()
	m.Limits.TimeMS = 250
	var all [2]searched // quiet, while it spins
	var added []float64 // %, of each pair of turns
	err = b.loaded(guests.C, m, true, func(p *wasm.Plugin) error {
		warm, err := s.turn(b.ctx, spinWarm)
		if err != nil {
			return err
		}
		s.count = len(warm.took) / int(spinWarm/spinTurn)
		turns := []func() (searched, error){
			func() (searched, error) { return s.turn(b.ctx, 0) },
			func() (t searched, err error) {
				err = spinning(b.ctx, p, func() error {
					t, err = s.turn(b.ctx, 0)
					return err
				})
				return t, err
			},
		}
		for r := range b.rounds {
			var p99 [2]float64
			for i := range turns {
				which := (i + r) % 2
				t, err := turns[which]()
				if err != nil {
					return err
				}
				p99[which] = percentile(t.took, 99)
				all[which].took = append(all[which].took, t.took...)
				all[which].pause = max(all[which].pause, t.pause)
			}
			added = append(added, 100*(p99[1]-p99[0])/p99[0])
		}
		return nil
	})
	if err != nil {
		return err
	}
	quiet, spun := all[0].took, all[1].took
	b.add(result{Case: "recall_p99_under_spin", N: len(spun), Value: percentile(added, 50), Unit: "%", Note: fmt.Sprintf(
		"added, the median of %d pairs of turns; of all, p99 %.2f ms quiet, %.2f while it spins; p50 %.2f and %.2f",
		len(added), percentile(quiet, 99), percentile(spun, 99), percentile(quiet, 50), percentile(spun, 50))})
	b.add(result{Case: "gc_pause_under_spin", N: len(spun), Value: all[1].pause, Unit: "ms", Note: fmt.Sprintf("the longest; %.3f ms quiet", all[0].pause)})
	return nil
}
