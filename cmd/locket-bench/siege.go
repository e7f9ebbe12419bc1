package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/internal/wait"
)

// The siege suite measures what honest devices notice while others attack the relay: a stranger, a
// removed member, and an account, each from the same four addresses (127.0.0.2 to 127.0.0.5). The
// relay is a separate process with the limits of locket-cloud serve. Devices append at a steady
// rate, below what the relay can handle, first alone and then under attack. An append that fails is
// sent again, and its time counts from when it was due.

func runSiege(ctx context.Context, f *frame) error {
	s := siege{stderr: f.stderr}
	f.IntVar(&s.devices, "devices", 16, "that append, each for an account of its own")
	f.IntVar(&s.rate, "rate", 40, "appends a second of all devices")
	f.IntVar(&s.hostile, "hostile", 20, "requests a second of each attacker from each of its addresses")
	f.DurationVar(&s.lasts, "for", 30*time.Second, "how long each half lasts")
	database := f.Bool("postgres", true, "measure append_postgres beside the plain handler, too")
	if !f.parsed() || f.NArg() > 0 || min(s.devices, s.rate, s.hostile) < 1 || s.hostile > 200 || s.lasts < time.Second || s.lasts > 10*time.Minute {
		return f.usage("numbers are above 0, --hostile at most 200, --for from 1s to 10m")
	}
	results, err := s.run(ctx)
	if err != nil {
		return err
	}
	if *database {
		b := cloudBench{requests: 60, batch: 16, conns: 32, rounds: 5, stderr: f.stderr}
		appends, err := b.postgres(ctx)
		if err != nil {
			return err
		}
		r := appends[0]
		results = append(results, result{Suite: "siege", Case: "append_postgres", N: r.N, Value: r.Ratio, Unit: "ratio",
			Note: fmt.Sprintf("%.0f deltas a second, a plain handler with the same insert %.0f; %s", r.Value, r.PeerValue, r.Note)})
	}
	return f.print(results, nil)
}

type siege struct {
	devices, rate, hostile int
	lasts                  time.Duration
	stderr                 io.Writer
}

// half is what was seen in one half.
type half struct {
	appends         int
	late            []time.Duration // of each append, from when it was due
	paired, pairing int
	rss             float64 // KB, at most
}

func (s *siege) run(ctx context.Context) (out []result, err error) {
	dir, err := os.MkdirTemp("", "locket-bench-siege-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	host, err := startCloudHost(ctx, s.stderr, "served", dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, host.stop()) }()
	all := houses(s.devices + 2)
	if err := settleAll(ctx, host.addr, all); err != nil {
		return nil, err
	}
	honest, wearer, hostile := all[:s.devices], all[s.devices], all[s.devices+1]
	if err := removeWriter(ctx, host.addr, wearer); err != nil {
		return nil, err
	}
	devices := make([]*device, len(honest))
	for i, house := range honest {
		devices[i] = &device{addr: host.addr, house: house}
		defer devices[i].close()
	}
	calm, err := s.half(ctx, host, devices)
	if err != nil {
		return nil, err
	}
	attack, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { besiege(attack, host.addr, wearer, hostile, s.hostile) })
	under, err := s.half(ctx, host, devices)
	stop()
	done.Wait()
	if err != nil {
		return nil, err
	}
	rate := func(h half) float64 { return float64(h.appends) / s.lasts.Seconds() }
	line := func(name, unit string, n int, value float64, note string) {
		out = append(out, result{Suite: "siege", Case: name, N: n, Value: round(value), Unit: unit, Note: note})
	}
	line("honest_appends_ratio", "ratio", under.appends, rate(under)/rate(calm), fmt.Sprintf("%.1f appends a second under siege, %.1f without", rate(under), rate(calm)))
	line("honest_p99_ms", "ms", len(under.late), percentile(milliseconds(under.late), 99), fmt.Sprintf("from when each was due; %.1f without a siege", percentile(milliseconds(calm.late), 99)))
	line("pairing_ok_percent", "%", under.pairing, 100*float64(under.paired)/float64(max(1, under.pairing)), "both sides leave three messages each and read the other's")
	line("relay_rss_growth_mb", "MB", 1, (under.rss-calm.rss)/1024, fmt.Sprintf("at most, over %.0f MB without a siege", calm.rss/1024))
	return out, nil
}

// removeWriter removes a household's writer.
func removeWriter(ctx context.Context, addr string, h *storetest.Household) error {
	e := h.Remove(h.Owner, h.Writer)
	r, err := signedRequest(addr, "POST", "/log", "", h, h.Owner, e.Bytes())
	if err != nil {
		return err
	}
	c, err := dialCloud(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.ask(r)
}

// half lets the devices append, and others pair, for a time.
func (s *siege) half(ctx context.Context, host *cloudHost, all []*device) (half, error) {
	var h half
	var mu sync.Mutex
	var wg sync.WaitGroup
	began := time.Now()
	over, stop := context.WithDeadline(ctx, began.Add(s.lasts))
	defer stop()
	every := time.Second * time.Duration(s.devices) / time.Duration(s.rate)
	for i, d := range all {
		wg.Go(func() {
			defer d.close()
			first := began.Add(every * time.Duration(i) / time.Duration(s.devices))
			for n := 0; ; n++ {
				due := first.Add(time.Duration(n) * every)
				if !wait.For(over, time.Until(due)) || !d.append(over) {
					return
				}
				mu.Lock()
				h.appends, h.late = h.appends+1, append(h.late, time.Since(due))
				mu.Unlock()
			}
		})
	}
	wg.Go(func() {
		for n := 0; wait.For(over, time.Until(began.Add(time.Duration(n)*time.Second))); n++ {
			ok := pairs(over, host.addr, fmt.Sprintf("127.0.1.%d", 1+n%250))
			if over.Err() != nil || time.Since(began) >= s.lasts {
				return // it had no time to end
			}
			mu.Lock()
			h.pairing++
			if ok == nil {
				h.paired++
			}
			mu.Unlock()
		}
	})
	var failed error
	wg.Go(func() {
		for n := 1; ; n++ {
			kb, err := host.memory("VmRSS:")
			mu.Lock()
			h.rss, failed = max(h.rss, kb), errors.Join(failed, err)
			mu.Unlock()
			if err != nil || !wait.For(over, time.Until(began.Add(time.Duration(n)*500*time.Millisecond))) {
				return
			}
		}
	})
	wg.Wait()
	return h, errors.Join(failed, ctx.Err())
}

// device is an honest device, on one connection as long as it lasts.
type device struct {
	addr  string
	house *storetest.Household
	conn  *cloudConn
	next  []byte // what was not accepted yet; dropping it would leave a gap in the chain
}

func (d *device) close() {
	if d.conn != nil {
		d.conn.Close()
		d.conn = nil
	}
}

// append sends one delta until it is accepted.
func (d *device) append(ctx context.Context) bool {
	if d.next == nil {
		d.next = nextDeltas(d.house, 1)
	}
	for ctx.Err() == nil {
		r, err := signedRequest(d.addr, "POST", "/deltas", "", d.house, d.house.Owner, d.next)
		if err == nil && d.conn == nil {
			d.conn, err = dialCloud(ctx, d.addr)
		}
		if err == nil {
			_ = d.conn.SetDeadline(time.Now().Add(10 * time.Second)) // else the write or the read says so
			if err = d.conn.ask(r); err == nil {
				d.next = nil
				return true
			}
		}
		d.close()
		wait.For(ctx, 50*time.Millisecond+time.Duration(rand.IntN(50))*time.Millisecond)
	}
	return false
}

// pairs leaves six messages in its own mailbox, and reads each.
func pairs(ctx context.Context, addr, from string) error {
	c, err := dialFrom(ctx, addr, from)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second)) // else the write or the read says so
	box := fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
	for n := range 6 {
		if err := c.ask(plainRequest("POST", addr, "/v1/mailboxes/"+box, "a message of a pairing")); err != nil {
			return err
		}
		if err := c.ask(plainRequest("GET", addr, fmt.Sprintf("/v1/mailboxes/%s?after=%d", box, n), "")); err != nil {
			return err
		}
	}
	return nil
}

// plainRequest returns the bytes of an unsigned request.
func plainRequest(method, addr, target, body string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, target, addr)
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/octet-stream\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(b.String() + "\r\n" + body)
}

// dialFrom connects from one of this machine's addresses.
func dialFrom(ctx context.Context, addr, from string) (*cloudConn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &cloudConn{c, bufio.NewReader(c)}, nil
}
