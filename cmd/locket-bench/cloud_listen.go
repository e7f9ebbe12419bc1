package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

// listen measures event streams: first a tenth of them, then all.
func (b *cloudBench) listen(ctx context.Context) ([]result, error) {
	if err := raiseFiles(uint64(b.listeners) + 1000); err != nil {
		return nil, err
	}
	few, err := b.listening(ctx, max(1, b.listeners/10), "_few")
	if err != nil {
		return nil, err
	}
	all, err := b.listening(ctx, b.listeners, "")
	return append(few, all...), err
}

// listening measures this many streams: what one costs while it waits, and how long after an append
// its listeners hear of it.
func (b *cloudBench) listening(ctx context.Context, listeners int, suffix string) (out []result, err error) {
	host, end, err := startRelay(ctx, b.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	const each = 100 // listeners of a space
	if each > relay.MaxListeners {
		return nil, errors.New("a space takes fewer listeners")
	}
	all := houses((listeners + each - 1) / each)
	if err := settleAll(ctx, host.addr, all); err != nil {
		return nil, err
	}
	before, err := host.memory("VmRSS:")
	if err != nil {
		return nil, err
	}
	ears := &ears{}
	defer ears.close()
	for i := range listeners {
		if err := ears.add(ctx, host.addr, all[i/each]); err != nil {
			return nil, fmt.Errorf("listener %d: %w", i, err)
		}
	}
	after, err := host.memory("VmRSS:")
	if err != nil {
		return nil, err
	}
	out = append(out, result{Suite: "cloud", Case: "sse_idle_kb" + suffix, N: listeners, Value: round((after - before) / float64(listeners)), Unit: "KB"})
	var late []time.Duration
	for i := range b.wakes {
		h := (i * 7) % len(all)
		some, err := ears.wake(ctx, host.addr, all[h], min(each, listeners-h*each))
		if err != nil {
			return nil, err
		}
		late = append(late, some...)
	}
	out = append(out, result{Suite: "cloud", Case: "wake_p99" + suffix, N: len(late), Value: round(percentile(milliseconds(late), 99)), Unit: "ms",
		Note: fmt.Sprintf("from an append's sending to each of %d listeners of its space, of %d in all", min(each, listeners), listeners)})
	return out, nil
}

// ears are the open streams.
type ears struct {
	wg    sync.WaitGroup
	conns []*cloudConn
	heard sync.Map // space to a channel of times
}

func (e *ears) close() {
	for _, c := range e.conns {
		c.Close()
	}
	e.wg.Wait()
}

// add opens a stream and waits for its first event.
func (e *ears) add(ctx context.Context, addr string, h *storetest.Household) error {
	c, err := dialCloud(ctx, addr)
	if err != nil {
		return err
	}
	e.conns = append(e.conns, c)
	r, err := signedRequest(addr, "GET", "/events", "", h, h.Reader, nil)
	if err != nil {
		return err
	}
	if _, err := c.Write(r); err != nil {
		return err
	}
	if err := c.event(); err != nil {
		return err
	}
	ch, _ := e.heard.LoadOrStore(h.Space, make(chan time.Time, relay.MaxListeners))
	e.wg.Go(func() {
		for c.event() == nil {
			ch.(chan time.Time) <- time.Now()
		}
	})
	return nil
}

// event reads to the end of an event that gives the head of the space.
func (c *cloudConn) event() error {
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte("data:")) {
			return nil
		}
	}
}

// wake appends, and returns after what time each listener of the space heard of it.
func (e *ears) wake(ctx context.Context, addr string, h *storetest.Household, listeners int) ([]time.Duration, error) {
	ch, ok := e.heard.Load(h.Space)
	if !ok {
		return nil, nil
	}
	r, err := signedRequest(addr, "POST", "/deltas", "", h, h.Owner, nextDeltas(h, 1))
	if err != nil {
		return nil, err
	}
	c, err := dialCloud(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	began := time.Now()
	if err := c.ask(r); err != nil {
		return nil, err
	}
	var out []time.Duration
	for range listeners {
		select {
		case at := <-ch.(chan time.Time):
			out = append(out, at.Sub(began))
		case <-time.After(30 * time.Second):
			return nil, fmt.Errorf("%d of %d listeners heard nothing", listeners-len(out), listeners)
		}
	}
	return out, nil
}

// faulty is how many of a hundred requests are cut off in the middle.
const faulty = 1

// faults measures appends and pulls of many members at once. Some requests are cut off in the
// middle and sent again. Everything that was acknowledged must be there at the end.
func (b *cloudBench) faults(ctx context.Context) (out []result, err error) {
	host, end, err := startRelay(ctx, b.stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	all := houses(b.members)
	if err := settleAll(ctx, host.addr, all); err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var appends, pulls []time.Duration
	var cut atomic.Int64
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, h := range all {
		wg.Go(func() {
			m := member{addr: host.addr, house: h, cut: &cut}
			defer m.close()
			for n := range b.requests {
				body := nextDeltas(h, 1)
				sent, err := m.ask(ctx, "POST", "/deltas", "", h.Owner, body)
				if err != nil {
					errs[i] = err
					return
				}
				got, err := m.ask(ctx, "GET", "/deltas", fmt.Sprintf("after=%d", n), h.Reader, nil)
				if err != nil {
					errs[i] = err
					return
				}
				mu.Lock()
				appends, pulls = append(appends, sent), append(pulls, got)
				mu.Unlock()
			}
			// A cursor past the end is refused, so this shows that all are there.
			_, errs[i] = m.ask(ctx, "GET", "/deltas", fmt.Sprintf("after=%d", b.requests), h.Reader, nil)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%d members at once, %d requests cut off", b.members, cut.Load())
	for name, some := range map[string][]time.Duration{"append_p99": appends, "pull_p99": pulls} {
		r := result{Suite: "cloud", Case: name, N: len(some), Value: round(percentile(milliseconds(some), 99)), Unit: "ms", Note: note}
		if name == "append_p99" {
			out = append([]result{r}, out...)
		} else {
			out = append(out, r)
		}
	}
	return out, nil
}

// member is one device with a connection that breaks now and then.
type member struct {
	addr  string
	house *storetest.Household
	conn  *cloudConn
	cut   *atomic.Int64
}

func (m *member) close() {
	if m.conn != nil {
		m.conn.Close()
		m.conn = nil
	}
}

// ask sends a request until it is answered, and returns how long the last attempt took.
func (m *member) ask(ctx context.Context, method, path, query string, who *storetest.Person, body []byte) (time.Duration, error) {
	for {
		r, err := signedRequest(m.addr, method, path, query, m.house, who, body)
		if err != nil {
			return 0, err
		}
		if m.conn == nil {
			if m.conn, err = dialCloud(ctx, m.addr); err != nil {
				return 0, err
			}
		}
		if rand.IntN(100) < faulty {
			m.cut.Add(1)
			// Half of them are cut before the end, half before the answer.
			_, _ = m.conn.Write(r[:len(r)/2*(1+rand.IntN(2))])
			m.close()
			continue
		}
		began := time.Now()
		if err := m.conn.ask(r); err != nil {
			return 0, err
		}
		return time.Since(began), nil
	}
}
