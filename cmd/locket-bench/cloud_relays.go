package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"
)

// relays measures what more relay processes on the same database gain: one, two and four of them. A
// control group limits each to the same share of a processor, so that they do not compete for the
// machine's processors. The database and the clients have no limit.
func (b *cloudBench) relays(ctx context.Context) (out []result, err error) {
	err = b.onPostgres(ctx, func(dir, url string) (err error) {
		var hosts []*cloudHost
		var groups []group
		defer func() {
			for _, h := range hosts {
				err = errors.Join(err, h.stop())
			}
			for _, g := range groups {
				err = errors.Join(err, g.close())
			}
		}()
		var one float64
		for _, n := range []int{1, 2, 4} {
			for len(hosts) < n {
				g, err := openCPUGroup(len(hosts), b.share)
				if err != nil {
					return err
				}
				groups = append(groups, g)
				h, err := startBounded(ctx, g, b, "relay", dir, url)
				if err != nil {
					return err
				}
				hosts = append(hosts, h)
			}
			rates := make([]float64, b.rounds)
			for i := range rates {
				if rates[i], err = b.together(ctx, hosts); err != nil {
					return err
				}
			}
			rate := round(percentile(rates, 50))
			r := result{Suite: "cloud", Case: fmt.Sprintf("append_postgres_relays_%d", n), N: n * b.conns * b.requests, Value: rate, Unit: "1/s",
				Note: fmt.Sprintf("%d relays, each %d %% of a processor", n, b.share)}
			if n == 1 {
				one = rate
			}
			out = append(out, r.beside("one_relay", one, true))
		}
		return nil
	})
	return out, err
}

// together lets the connections of all hosts append at once, and returns deltas per second.
func (b *cloudBench) together(ctx context.Context, hosts []*cloudHost) (float64, error) {
	requests := make([][][][]byte, len(hosts))
	for i, h := range hosts {
		all := houses(b.conns)
		err := settleAll(ctx, h.addr, all)
		if err == nil {
			requests[i], err = b.appendsOf(all, h.addr, 1)
		}
		if err != nil {
			return 0, err
		}
	}
	errs := make([]error, len(hosts))
	var wg sync.WaitGroup
	began := time.Now()
	for i, h := range hosts {
		wg.Go(func() { _, errs[i] = inTurn(ctx, h.addr, requests[i]) })
	}
	wg.Wait()
	return float64(len(hosts)*b.conns*b.requests) / time.Since(began).Seconds(), errors.Join(errs...)
}

// openCPUGroup makes a control group with this many per cent of a processor.
func openCPUGroup(i, percent int) (group, error) {
	const period = 10_000 // µs, short, so that a request waits little for its turn
	share, each := strconv.Itoa(period*percent/100), strconv.Itoa(period)
	return openGroup("cpu", fmt.Sprintf("cpu-%d", i), [2][]setting{{{"cpu.cfs_period_us", each}, {"cpu.cfs_quota_us", share}}, {{"cpu.max", share + " " + each}}})
}

// startBounded starts a host in a control group.
func startBounded(ctx context.Context, g group, b *cloudBench, args ...string) (*cloudHost, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line := slices.Concat(g.before(), []string{self, cloudHostArg}, args)
	return hostCommand(exec.CommandContext(ctx, line[0], line[1:]...), b.stderr, args)
}
