package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

// The cloud suite drives a relay in a separate process over loopback. Its peer is a plain handler
// on the same server that inserts the same deltas into the same kind of database with the same
// durability, and checks nothing: see cloudHostArg. They take turns, round by round, and the median
// round counts. PostgreSQL is a separate instance, with fsync on.

func runCloud(ctx context.Context, f *frame) error {
	b := cloudBench{stderr: f.stderr}
	f.IntVar(&b.requests, "requests", 60, "appends of each connection in a round")
	f.IntVar(&b.batch, "batch", 16, "deltas an append, where there are several")
	f.IntVar(&b.conns, "connections", 32, "that append at once, each for an account of its own")
	f.IntVar(&b.rounds, "rounds", 5, "how often each is measured")
	f.IntVar(&b.listeners, "listeners", 10_000, "event streams that wait at once; a tenth of them is measured, too")
	f.IntVar(&b.wakes, "wakes", 20, "appends that wake listeners")
	f.IntVar(&b.jobs, "jobs", 5000, "of a worker, that do nothing")
	f.IntVar(&b.edges, "edges", 1_000_000, "relations taken into a worker's graph")
	f.IntVar(&b.members, "members", 200, "that append and pull at once, with faults, and while the relay is killed")
	f.IntVar(&b.comers, "comers", 10_000, "members that come to one space and are removed, of the part comers")
	f.IntVar(&b.share, "share", 15, "per cent of a processor for each relay of the part relays, which takes root")
	only := f.String("only", "", "measure these parts alone, commas between: embedded, postgres, idle, listen, faults, restart, jobs, graph; and relays and comers, which are measured only if they are named")
	if !f.parsed() || f.NArg() > 0 || min(b.requests, b.batch, b.conns, b.rounds, b.listeners, b.wakes, b.members, b.jobs, b.edges, b.share, b.comers) < 1 || b.batch > 256 || b.share > 100 {
		return f.usage("flags take numbers above 0, --batch at most 256, --share at most 100")
	}
	parts, err := b.parts(*only)
	if err != nil {
		return f.usage("%v", err)
	}
	return f.print(allOf(ctx, parts...))
}

// parts returns the named parts of the suite, or all if none is named.
func (b *cloudBench) parts(only string) (out []func(context.Context) ([]result, error), err error) {
	asked := strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	known := 0
	for _, p := range []struct {
		name string
		run  func(context.Context) ([]result, error)
	}{{"embedded", b.embedded}, {"postgres", b.postgres}, {"idle", b.idle}, {"listen", b.listen}, {"faults", b.faults}, {"restart", b.restart}, {"jobs", b.queue}, {"graph", b.graph}, {"relays", b.relays}, {"comers", b.comeAndGo}} {
		named := slices.Contains(asked, p.name)
		if named || len(asked) == 0 && p.name != "relays" && p.name != "comers" {
			out = append(out, p.run)
		}
		if named {
			known++
		}
	}
	if known < len(asked) {
		return nil, fmt.Errorf("--only %s: there is no such part, or it is named twice", only)
	}
	return out, nil
}

type cloudBench struct {
	requests, batch, conns, rounds int
	listeners, wakes, members      int
	jobs                           int
	edges                          int
	comers                         int
	share                          int // of a processor, in per cent, for each of several relays
	stderr                         io.Writer
	cluster                        database // while one runs
}

// graph runs the part of the graph suite that a worker does.
func (b *cloudBench) graph(ctx context.Context) ([]result, error) {
	r, err := (&graphBench{suite: "cloud", edges: b.edges}).edgesPerSecond(ctx)
	return []result{r}, err
}

func (b *cloudBench) embedded(ctx context.Context) ([]result, error) {
	dir, err := os.MkdirTemp("", "locket-bench-cloud-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return b.appends(ctx, "append_embedded", []string{"relay", dir + "/relay"}, []string{"plain", dir})
}

func (b *cloudBench) postgres(ctx context.Context) (out []result, err error) {
	err = b.onPostgres(ctx, func(dir, url string) error {
		out, err = b.appends(ctx, "append_postgres", []string{"relay", dir, url}, []string{"plain", dir, url})
		return err
	})
	return out, err
}

// onPostgres calls do with an empty folder and the address of a separate PostgreSQL that has a
// relay's tables.
func (b *cloudBench) onPostgres(ctx context.Context, do func(dir, url string) error) (err error) {
	cluster := pgtest.Cluster{Durable: true}
	b.cluster = database{&cluster}
	defer func() { err = errors.Join(err, cluster.Stop()); b.cluster = database{} }()
	url, err := cluster.New(ctx)
	if err != nil {
		return err
	}
	m, err := postgres.Migrate(url)
	if err == nil {
		_, err = m.Up(ctx)
	}
	if err != nil {
		return err
	}
	if err := m.Close(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "locket-bench-cloud-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return do(dir, url)
}

// appends measures one delta per request, as devices send them, and several.
func (b *cloudBench) appends(ctx context.Context, name string, ours, peer []string) ([]result, error) {
	one, err := b.append(ctx, name, 1, ours, peer)
	if err != nil {
		return nil, err
	}
	some, err := b.append(ctx, name+"_batch", b.batch, ours, peer)
	return []result{one, some}, err
}

// append measures a relay and its peer in turns, so that other work of the machine affects both.
func (b *cloudBench) append(ctx context.Context, name string, batch int, ours, peer []string) (r result, err error) {
	var hosts []*cloudHost
	defer func() {
		for _, h := range hosts {
			err = errors.Join(err, h.stop())
		}
	}()
	for _, args := range [][]string{ours, peer} {
		h, err := startCloudHost(ctx, b.stderr, args...)
		if err != nil {
			return result{}, err
		}
		hosts = append(hosts, h)
	}
	var rates [2][]float64
	var spent [2]appendCost
	for range b.rounds {
		for i, h := range hosts {
			rate, err := b.round(ctx, h, batch, i == 0, &spent[i])
			if err != nil {
				return result{}, fmt.Errorf("%s: %w", [][]string{ours, peer}[i][0], err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	each := func(seconds float64) float64 { return seconds * 1e6 / float64(b.conns*b.requests*b.rounds) }
	r = result{Suite: "cloud", Case: name, N: b.conns * b.requests * batch, Value: round(percentile(rates[0], 50)), Unit: "1/s",
		Note: fmt.Sprintf("%d deltas a request, %d connections; processor time of a request: relay %.0f µs, database %.0f; plain handler %.0f, database %.0f",
			batch, b.conns, each(spent[0].host), each(spent[0].database), each(spent[1].host), each(spent[1].database))}
	return r.beside("plain_handler", round(percentile(rates[1], 50)), true), nil
}

// appendCost is processor time in seconds.
type appendCost struct{ host, database float64 }

// round returns deltas per second, and adds their processor time. Requests are made before the
// clock starts.
func (b *cloudBench) round(ctx context.Context, h *cloudHost, batch int, settle bool, spent *appendCost) (float64, error) {
	all, addr := houses(b.conns), h.addr
	if settle {
		if err := settleAll(ctx, addr, all); err != nil {
			return 0, err
		}
	}
	requests, err := b.appendsOf(all, addr, batch)
	if err != nil {
		return 0, err
	}
	host, database := h.processor(), b.cluster.processor()
	took, err := inTurn(ctx, addr, requests)
	spent.host += h.processor() - host
	spent.database += b.cluster.processor() - database
	return float64(b.conns*b.requests*batch) / took.Seconds(), err
}

// appendsOf makes and signs each household's requests to a relay.
func (b *cloudBench) appendsOf(all []*storetest.Household, addr string, batch int) ([][][]byte, error) {
	requests := make([][][]byte, len(all))
	for i, h := range all {
		for range b.requests {
			r, err := signedRequest(addr, "POST", "/deltas", "", h, h.Owner, nextDeltas(h, batch))
			if err != nil {
				return nil, err
			}
			requests[i] = append(requests[i], r)
		}
	}
	return requests, nil
}

// idle measures the memory of a relay that gets no requests.
func (b *cloudBench) idle(ctx context.Context) (out []result, err error) {
	host, end, err := startRelay(ctx, b.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := settleAll(ctx, host.addr, houses(1)); err != nil { // it has served once
		return nil, err
	}
	kb, err := host.memory("VmRSS:")
	if err != nil {
		return nil, err
	}
	own, err := host.memory("RssAnon:")
	return []result{{Suite: "cloud", Case: "rss_idle", N: 1, Value: round(kb / 1024), Unit: "MB",
		Note: fmt.Sprintf("embedded; %.1f MB are its own, the rest pages of the program's file that the system can take back", own/1024)}}, err
}

// milliseconds converts durations to milliseconds.
func milliseconds(some []time.Duration) []float64 {
	out := make([]float64, len(some))
	for i, d := range some {
		out[i] = float64(d.Microseconds()) / 1000
	}
	return out
}
