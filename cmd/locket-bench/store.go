package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
)

func runStore(ctx context.Context, f *frame) error {
	ones := f.Int("ones", 300, "adds one by one in a round")
	batches := f.Int("batches", 20, "batches in a round")
	size := f.Int("size", 100, "adds of a batch, at most 200")
	rounds := f.Int("rounds", 5, "how often each store is measured, in turns; the middle counts")
	dir := f.String("dir", "", "a `DIR` on the disk to be measured; by default that of temporary files")
	if !f.parsed() || f.NArg() > 0 || *ones < 1 || *batches < 1 || *size < 1 || *size > 200 || *rounds < 1 {
		return f.usage("--ones, --batches and --rounds take numbers above 0, --size one of at most 200")
	}
	home, err := os.MkdirTemp(*dir, "locket-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	one, batch, syncs := map[string][]rate{}, map[string][]rate{}, []float64{}
	for round := range *rounds {
		ms, err := syncTime(filepath.Join(home, fmt.Sprint("sync", round)), 50)
		if err != nil {
			return err
		}
		syncs = append(syncs, ms)
		for _, name := range keepers {
			a, b, err := measureKeeper(ctx, name, filepath.Join(home, fmt.Sprint(name, round)), *ones, *batches, *size)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			one[name], batch[name] = append(one[name], a), append(batch[name], b)
		}
	}
	results := storeResults("add_one", *ones, one)
	results = append(results, storeResults("add_batch", *batches**size, batch)...)
	results = append(results, result{Suite: "store", Case: "fsync", N: 50, Value: percentile(syncs, 50), Unit: "ms", Note: "append of 512 bytes and fsync, for comparison"})
	return f.print(results, nil)
}

// rate is the speed of a store, and the processor time that it needed.
type rate struct{ perSecond, cpu float64 } // adds a second; ms of processor for each

// middle returns the median of each value.
func middle(rates []rate) rate {
	var s, c []float64
	for _, r := range rates {
		s, c = append(s, r.perSecond), append(c, r.cpu)
	}
	return rate{round(percentile(s, 50)), percentile(c, 50)}
}

// storeResults returns one line that compares Locket with the fastest peer, and one for each peer.
func storeResults(name string, n int, rates map[string][]rate) []result {
	fastest := ""
	for _, k := range keepers[1:] {
		if fastest == "" || middle(rates[k]).perSecond > middle(rates[fastest]).perSecond {
			fastest = k
		}
	}
	var out []result
	for _, k := range keepers {
		m := middle(rates[k])
		r := result{Suite: "store", Case: name, N: n, Value: m.perSecond, Unit: "1/s", Note: fmt.Sprintf("%.3f ms of processor each", m.cpu)}
		if k == "locket" {
			r = r.beside(fastest, middle(rates[fastest]).perSecond, true)
		} else {
			r.Case += "_" + k
		}
		out = append(out, r)
	}
	return out
}

// measureKeeper measures adding to a new store, one by one and in batches.
func measureKeeper(ctx context.Context, name, dir string, ones, batches, size int) (one, batch rate, err error) {
	k, err := newKeeper(name, dir)
	if err != nil {
		return one, batch, err
	}
	defer func() {
		if e := k.Close(); err == nil {
			err = e
		}
	}()
	facts := makeFacts(ones + batches*size)
	if one, err = addAll(ctx, k, facts[:ones], 1); err == nil {
		batch, err = addAll(ctx, k, facts[ones:], size)
	}
	return one, batch, err
}

func addAll(ctx context.Context, k keeper, facts []memory.Assertion, size int) (rate, error) {
	begin, cpu := time.Now(), processor()
	for chunk := range slices.Chunk(facts, size) {
		if err := k.add(ctx, chunk); err != nil {
			return rate{}, err
		}
	}
	n := float64(len(facts))
	return rate{n / time.Since(begin).Seconds(), 1000 * (processor() - cpu) / n}, nil
}

// makeFacts makes assertions such as an extractor proposes, each for a separate memory.
func makeFacts(n int) []memory.Assertion {
	lines := generate(1, n, 1).lines
	member, space := memory.MemberID{1}, memory.SpaceID{1}
	out := make([]memory.Assertion, n)
	for i := range out {
		l := &lines[i]
		c := &memory.Candidate{Type: memory.Semantic, Text: l.text, Lang: "en", Owner: memory.Owner{User: "user"}, Confidence: .8, Sensitivity: memory.Personal,
			Source:   memory.Source{Device: benchDevice, Plugin: "facts", Version: "1"},
			Evidence: []memory.Evidence{{Event: memory.EventID{Device: benchDevice, Boot: 1, Seq: uint64(i + 1)}, Speaker: l.speaker, At: l.at, Excerpt: l.text}}}
		out[i] = memory.Assertion{Dot: memory.Dot{Member: member, Seq: uint64(i + 1)}, Clock: memory.Clock{Wall: l.at.UnixMilli()}, Rank: memory.RankDevice,
			Space: space, Memory: lineID(l, i), Act: memory.ActPropose, Candidate: c, Source: c.Source}
	}
	return out
}

// makeLines makes the lines behind facts, as a node stores them, and makes each fact cite its own.
func makeLines(facts []memory.Assertion) []memory.Utterance {
	talk := generate(1, len(facts), 1).lines
	out := make([]memory.Utterance, len(facts))
	for i := range out {
		e := &facts[i].Candidate.Evidence[0]
		e.Utterance = memory.DeriveID([]byte("lines of the bench"), e.Event, "", "text")
		out[i] = memory.Utterance{ID: e.Utterance, Event: e.Event, Session: talk[i].session, At: e.At, Received: e.At.Add(time.Duration(i%977) * 1_234_567), Zone: "UTC",
			Speaker: e.Speaker, Lang: "en", Text: e.Excerpt, Source: memory.Source{Device: benchDevice}}
	}
	return out
}

// syncTime returns the median time in ms of an append and an fsync.
func syncTime(path string, n int) (float64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var took []float64
	for range n {
		begin := time.Now()
		_, err := f.Write(make([]byte, 512))
		if err = errors.Join(err, f.Sync()); err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(begin))/float64(time.Millisecond))
	}
	return percentile(took, 50), nil
}
