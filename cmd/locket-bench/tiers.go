package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// The tiers suite runs the relay in this process, and the device as it ships: the locket daemon
// with the wearable profile, in a separate process, asked over its socket.

func runTiers(ctx context.Context, f *frame) (err error) {
	b := tiersBench{stderr: f.stderr}
	f.IntVar(&b.memories, "memories", 100_000, "memories of the wearer")
	f.BoolVar(&b.lines, "lines", false, "with the line that each memory was made from, as a node keeps it")
	f.IntVar(&b.asks, "questions", 300, "questions asked, and cold memories fetched")
	f.DurationVar(&b.rest, "rest", 75*time.Second, "how long the device is left alone before its memory is read")
	f.StringVar(&b.locket, "locket", "", "the `program` to measure; without, the one beside this one")
	f.StringVar(&b.dir, "dir", "", "keep relay and device in `DIR`; where they are there already, they are measured again")
	if !f.parsed() || f.NArg() > 0 || b.memories < 100 || b.asks < 1 || b.asks > b.memories {
		return f.usage("--memories takes 100 or more, --questions up to as many")
	}
	if b.locket == "" {
		if b.locket, err = besideThis("locket"); err != nil {
			return err
		}
	}
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "locket-bench-tiers-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	}
	return f.print(b.run(ctx))
}

// besideThis finds another program of Locket: beside this one, or in the PATH.
func besideThis(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if path := filepath.Join(filepath.Dir(self), name); isFile(path) {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside this program nor in PATH: --locket says where it is", name)
	}
	return path, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

type tiersBench struct {
	dir, locket    string
	memories, asks int
	lines          bool
	rest           time.Duration
	stderr         io.Writer
}

func (b *tiersBench) run(ctx context.Context) (out []result, err error) {
	h, err := newHouseIn(ctx, b.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	home := filepath.Join(b.dir, "wearable")
	var way most
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		if way, err = b.fill(ctx, h, home); err != nil {
			return nil, err
		}
	}
	d, err := startDaemon(ctx, b.locket, home, h.url, b.stderr)
	if err != nil {
		return nil, err
	}
	stop := sync.OnceValue(d.stop)
	defer func() { err = errors.Join(err, stop()) }()
	add := func(name string, n int, value float64, unit, note string) {
		out = append(out, result{Suite: "tiers", Case: name, N: n, Value: round(value), Unit: unit, Note: note})
	}
	if way.took > 0 {
		note := "at most, while a new device takes everything and cools; "
		add("rss_wearable_first", b.memories, way.resident, "MB", note+way.residents)
		add("store_wearable_first", b.memories, way.store, "MB", note+fmt.Sprintf("%d memories hot at most", way.hot))
		add("first_wearable", b.memories, way.took.Seconds(), "s", "from the start to its budget kept")
	}
	if err := pause(ctx, b.rest); err != nil {
		return nil, err
	}
	add("rss_wearable_idle", b.memories, d.resident(), "MB", "started again, nothing asked; "+d.residents())
	t, err := d.client.Tiers(ctx)
	if err != nil {
		return nil, err
	}
	queries := generate(1, b.memories, b.asks).queries
	first, err := b.ask(ctx, d, queries)
	if err != nil {
		return nil, err
	}
	again, err := b.ask(ctx, d, queries)
	if err != nil {
		return nil, err
	}
	fetched, err := b.fetchCold(ctx, d)
	if err != nil {
		return nil, err
	}
	asked := d.resident()
	askedNote := d.residents()
	if err := pause(ctx, b.rest); err != nil {
		return nil, err
	}
	add("rss_wearable", b.memories, d.resident(), "MB", fmt.Sprintf("%v after %d questions; %s", b.rest, 2*b.asks, d.residents()))
	add("rss_wearable_asked", b.memories, asked, "MB", "at the last question; "+askedNote)
	size, err := bytesIn(filepath.Join(home, "store"))
	if err != nil {
		return nil, err
	}
	add("store_wearable", b.memories, float64(size)/1e6, "MB", fmt.Sprintf("as the disk counts it; %d memories hot before the questions, %d cold in %d packs", t.Hot, t.Cold, t.Packs))
	note := "through the daemon's socket; the hits' memories are brought here from a relay on loopback"
	add("recall_p50_cold", len(first), percentile(first, 50), "ms", note)
	add("recall_p99_cold", len(first), percentile(first, 99), "ms", note)
	add("recall_p50_hot", len(again), percentile(again, 50), "ms", "the same questions, asked again")
	add("recall_p99_hot", len(again), percentile(again, 99), "ms", "the same questions, asked again")
	add("fetch_cold", len(fetched), percentile(fetched, 50), "ms", "one memory by its id")
	if err := stop(); err != nil {
		return nil, err
	}
	shares, err := sharesOf(ctx, home)
	if err != nil {
		return nil, err
	}
	for _, s := range shares[:min(len(shares), manyShares)] {
		add("share_"+strings.ReplaceAll(s.Kind, " ", "_"), s.Records, float64(s.Bytes)/1e6, "MB", fmt.Sprintf("%.0f B a record, with its guard", float64(s.Bytes)/float64(s.Records)))
	}
	return out, nil
}

// manyShares is for how many kinds of records the size is shown. The others are small.
const manyShares = 10

// sharesOf returns the size of the records by kind, in a home that no daemon has open.
func sharesOf(ctx context.Context, home string) (shares []store.KindSize, err error) {
	locked, err := keyring.Open(filepath.Join(home, "keys"))
	if err != nil {
		return nil, err
	}
	ring, err := locked.Unlock(ctx, keyring.KeyFile(""))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ring.Close()) }()
	s, err := store.Open(store.Options{Dir: filepath.Join(home, "store"), Key: ring.StoreKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Small: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.SizeByKind(ctx)
}

// fill lets another device add everything, and a new one with the wearable profile fetch it and
// turn cold what is over its budget.
func (b *tiersBench) fill(ctx context.Context, h *house, home string) (way most, err error) {
	from, err := h.newSolo("from", nil)
	if err != nil {
		return way, err
	}
	facts := makeFacts(b.memories)
	var lines []memory.Utterance
	if b.lines {
		lines = makeLines(facts)
	}
	if err := from.addFacts(ctx, facts, lines...); err != nil {
		return way, err
	}
	if err := from.Sync(ctx); err != nil {
		return way, err
	}
	if err := recoverHome(ctx, b.locket, home, h.url, from.phrase, b.stderr); err != nil {
		return way, err
	}
	began := time.Now()
	d, err := startDaemon(ctx, b.locket, home, h.url, b.stderr)
	if err != nil {
		return way, err
	}
	looks, stop := context.WithCancel(ctx)
	defer stop()
	looked := make(chan most, 1)
	go func() { looked <- watchMost(looks, d, filepath.Join(home, "store")) }()
	err = b.settle(ctx, d)
	stop()
	way = <-looked
	way.took = time.Since(began)
	return way, errors.Join(err, d.stop())
}

// most is the maximum of what a device held during the run.
type most struct {
	resident, store float64 // MB
	residents       string  // the composition of resident at about that time
	hot             int     // memories
	took            time.Duration
}

// watchMost measures five times a second until ctx ends.
func watchMost(ctx context.Context, d *daemon, dir string) (m most) {
	for pause(ctx, 200*time.Millisecond) == nil {
		if now := d.resident(); now > m.resident {
			m.resident, m.residents = now, d.residents()
		}
		if n, err := bytesIn(dir); err == nil {
			m.store = max(m.store, float64(n)/1e6)
		}
		if t, err := d.client.Tiers(ctx); err == nil {
			m.hot = max(m.hot, t.Hot)
		}
	}
	return m
}

// settle waits until the device has everything and is within its budget.
func (b *tiersBench) settle(ctx context.Context, d *daemon) error {
	for {
		s, err := d.client.SyncNow(ctx)
		if err == nil && s.Error != "" {
			err = errors.New(s.Error)
		}
		if err != nil {
			return err
		}
		moved, err := d.client.MoveTiers(ctx, serve.MoveRequest{Cool: true})
		if err != nil {
			return err
		}
		fmt.Fprintf(b.stderr, "%d hot, %d cold, %.0f MB %s\n", moved.Hot, moved.Cold, d.resident(), moved.Blocked)
		if moved.Hot+moved.Cold >= b.memories && moved.Cooled == 0 && s.Pending == 0 {
			return nil
		}
	}
}

// ask asks each question, and returns how long each answer took in ms.
func (b *tiersBench) ask(ctx context.Context, d *daemon, queries []query) (took []float64, err error) {
	for _, q := range queries {
		began := time.Now()
		if _, err := d.client.Search(ctx, serve.SearchRequest{Query: q.text, K: 10}); err != nil {
			return nil, err
		}
		took = append(took, float64(time.Since(began))/float64(time.Millisecond))
	}
	return took, nil
}

// fetchCold reads memories that are cold, one by one.
func (b *tiersBench) fetchCold(ctx context.Context, d *daemon) (took []float64, err error) {
	lines := generate(1, b.memories, 1).lines
	for i := 0; i < b.asks; i++ {
		at := i * len(lines) / b.asks
		before, err := d.client.Tiers(ctx)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		_, err = d.client.Get(ctx, lineID(&lines[at], at).String())
		if errors.Is(err, memory.ErrNotFound) || errors.Is(err, serve.ErrCold) { // the memory was replaced by one that says the same, or was not fetched in time
			continue
		}
		if err != nil {
			return nil, err
		}
		spent := float64(time.Since(began)) / float64(time.Millisecond)
		if now, err := d.client.Tiers(ctx); err != nil {
			return nil, err
		} else if now.Fetched > before.Fetched { // it was cold
			took = append(took, spent)
		}
	}
	if len(took) == 0 {
		return nil, errors.New("no memory was cold")
	}
	return took, nil
}

// bytesIn returns the disk space of the files in a folder: for a sparse file, only its blocks.
func bytesIn(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // a compaction removed it
			return nil
		}
		if err == nil {
			n += blocks(info)
		}
		return err
	})
	return n, err
}
