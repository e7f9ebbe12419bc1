package peer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
)

// line is a bad network in virtual time. It loses a share of the packets of 1400 bytes. TCP sends a
// packet again after one, two and four seconds, and then gives up (RFC 6298; for example a phone
// that moves away), which ends the connection.
type line struct {
	loss    float64
	latency time.Duration // one way
	rate    int           // bit/s; 0: no limit
	down    func(time.Time) bool

	mu   sync.Mutex
	rng  *rand.Rand
	cut  int // connections that it cut
	sent int // bytes
}

const (
	packet  = 1400
	resends = 3
)

var errCut = errors.New("the line gave up")

// carry waits for as long as the bytes take.
func (l *line) carry(n int) error {
	l.mu.Lock()
	l.sent += n
	wait, lost := l.latency, false
	if l.rate > 0 {
		wait += time.Duration(n) * 8 * time.Second / time.Duration(l.rate)
	}
	for again, rest := 0, time.Second; l.rng.Float64() < l.loss; again++ {
		if again == resends {
			lost = true
			l.cut++
			break
		}
		wait += rest
		rest *= 2
	}
	l.mu.Unlock()
	time.Sleep(wait)
	if lost || l.down != nil && l.down(time.Now()) {
		return errCut
	}
	return nil
}

type badConn struct {
	net.Conn
	l *line
}

func (c *badConn) LocalAddr() net.Addr { return pipeAddr }

func (c *badConn) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), packet)]
		if err := c.l.carry(len(part)); err != nil {
			c.Close()
			return n, err
		}
		m, err := c.Conn.Write(part)
		if n += m; err != nil {
			return n, err
		}
		p = p[m:]
	}
	return n, nil
}

var pipeAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}

// pipes is a listener in memory; its connections use a line in both directions.
type pipes struct {
	l     *line
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return pipeAddr }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := p.l.carry(60); err != nil {
		return nil, err
	}
	here, there := net.Pipe()
	select {
	case p.conns <- &badConn{there, p.l}:
		return &badConn{here, p.l}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Over every line that a wearer may meet, everything arrives once, in both directions; the test
// logs how long it took by the line's clock.
func TestBadLines(t *testing.T) {
	for _, tt := range []struct {
		name   string
		line   *line
		deltas int
		size   int
		within time.Duration
	}{
		{"2 % loss", &line{loss: .02, latency: 50 * time.Millisecond}, 40, 600, time.Hour},
		{"30 % loss", &line{loss: .3, latency: 50 * time.Millisecond}, 40, 600, 6 * time.Hour},
		{"2 s latency", &line{latency: time.Second}, 40, 600, 2 * time.Hour},
		{"9,600 bit/s", &line{rate: 9600, latency: 300 * time.Millisecond}, 4, 160_000, 4 * time.Hour},
		{"all of it", &line{loss: .1, rate: 9600, latency: time.Second}, 8, 2000, 12 * time.Hour},
		{"a day away", &line{latency: 50 * time.Millisecond, down: func(now time.Time) bool { return now.Before(newYear.Add(24 * time.Hour)) }}, 20, 600, 26 * time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := serve(t)
			mine, err := envstore.Open(t.TempDir(), h.first.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				l := tt.line
				l.rng = rand.New(rand.NewPCG(1, 2))
				began := time.Now()
				p := &pipes{l: l, conns: make(chan net.Conn), done: make(chan struct{})}
				server := &Server{Envelopes: h.Store, Self: phone.id, Key: func() []byte { return ours }}
				web := &http.Server{Handler: server.Handler()}
				served := make(chan error, 1)
				go func() { served <- web.Serve(p) }()
				way := &http.Transport{DialContext: p.dial, MaxConnsPerHost: 2}
				r, err := remote.New("http://"+pipeAddr.String(), remote.Option{HTTP: &http.Client{Transport: way}})
				if err != nil {
					t.Fatal(err)
				}
				at := upstream.New(r.Space(spaceID, phone.id, httpsig.KeySigner(phone.key)), "")
				c, err := mine.Carry(envstore.Carrier{Name: "peer", Remote: at, Self: phone.id, Owner: true, Peer: true})
				if err != nil {
					t.Fatal(err)
				}
				prev := envelope.Link{}
				for i := range tt.deltas {
					d := chained(t, h, 5, prev, strings.Repeat(fmt.Sprintf("%7d ", i), tt.size/8))
					if _, err := h.TakeDelta(d); err != nil { // on the other device
						t.Fatal(err)
					}
					prev = d.Header.Next()
				}
				if err := mine.TakeEntry(h.second); err != nil {
					t.Fatal(err)
				}
				prev = envelope.Link{}
				for i := range tt.deltas {
					d := chained(t, h, 6, prev, strings.Repeat(fmt.Sprintf("%7d ", -i), tt.size/8))
					if _, err := mine.TakeDelta(d); err != nil { // on this device
						t.Fatal(err)
					}
					prev = d.Header.Next()
				}
				rounds := 0
				for pause := time.Second; ; pause = min(2*pause, 5*time.Minute) {
					rounds++
					err := c.Round(t.Context())
					if err == nil {
						break
					}
					if errors.Is(err, envstore.ErrWithholds) || errors.Is(err, envstore.ErrRolledBack) || rounds == 400 {
						t.Fatalf("round %d, after %s: %v", rounds, time.Since(began), err)
					}
					time.Sleep(pause)
				}
				took := time.Since(began)
				_, there := h.Position()
				_, here := mine.Position()
				if want := uint64(2 * tt.deltas); there != want || here != want || took > tt.within || len(c.Standing().Trouble) != 0 {
					t.Errorf("%d there, %d here, want %d; after %s; %q", there, here, want, took, c.Standing().Trouble)
				}
				t.Logf("%d rounds, %s, %d KB, %d connections ended", rounds, took.Round(time.Second), l.sent>>10, l.cut)
				r.Close()
				way.CloseIdleConnections()
				web.Close()
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
			})
		})
	}
}

// newYear is the time at which synctest's clock begins.
var newYear = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// chained returns the phone's next delta of an incarnation.
func chained(t *testing.T, h *served, incarnation uint64, prev envelope.Link, text string) *envelope.Delta {
	t.Helper()
	d, err := envelope.Sign(envelope.Header{Version: envelope.Version, Space: spaceID, Member: phone.id, Incarnation: incarnation, Seq: prev.Seq + 1, Prev: prev.Hash,
		Head: h.state.Head(), Epoch: 1}, []byte(text), envelope.KeySigner(phone.key))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
