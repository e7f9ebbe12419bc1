// Package api serves a relay over HTTP/1.1, on Hertz, whose only importer it
// is. docs/protocol.md, section HTTP, is what it keeps to.
//
// A request is looked at from the cheap to the dear: its size, the form, age
// and signature of its fields, the caller's quota, and only then its body,
// whose digest was signed. Nothing of a request but method, route, status,
// sizes and time is logged.
package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/config"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/hertz/pkg/network/standard"
	"go.opentelemetry.io/otel/trace"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
)

// Config says how to serve. Only Relay is needed; the zero value of the rest
// is what its comment says.
type Config struct {
	Relay  *relay.Relay
	Market *market.Market // nil: there is none
	// MarketLog serves the market's transparency log under /v1/market/log/; nil
	// without one.
	MarketLog http.Handler
	Log       *slog.Logger // nothing is logged where nil
	TLS       *tls.Config  // plain where nil: for a proxy in front, or this machine
	// Authorities are the names, with their ports, that a signed request may
	// be for; where empty, those of this machine for itself alone. So a request
	// that was signed for another relay can't be passed on to this one.
	Authorities []string
	// StrangersPerMinute is how often one address may ask without a key: for
	// mailboxes, and to found a space. 60.
	StrangersPerMinute int64
	MaxConns           int // 16,384
	// ConnsPerAddress is how many connections one address has at a time, 512; an
	// eighth of them may wait for a next request, and a quarter open at once, and as
	// many in a minute. Behind a proxy it is how many requests are under way.
	ConnsPerAddress    int
	MessagesPerAddress int64         // that one address leaves in mailboxes at once, and in each ten minutes; twice StrangersPerMinute
	Nonces             int           // remembered of ten minutes; httpsig.Remembered
	Head               time.Duration // for the head of a request to come; 10 s
	Idle               time.Duration // between two requests; 75 s
	Heartbeat          time.Duration // of an event stream; 20 s
	Drain              time.Duration // for running requests to end; 10 s
	Now                func() time.Time
	Traces             trace.TracerProvider // where spans go; nowhere where nil
	// Proxies are the networks whose word on where a request came from is
	// believed (X-Forwarded-For). Without them everybody behind a proxy is one
	// address, and waits for the others.
	Proxies []netip.Prefix
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.Head, 10*time.Second)
	set(&c.Idle, 75*time.Second)
	set(&c.Heartbeat, 20*time.Second)
	set(&c.Drain, 10*time.Second)
	if c.StrangersPerMinute == 0 {
		c.StrangersPerMinute = 60
	}
	if c.MaxConns == 0 {
		c.MaxConns = 16384
	}
	if c.ConnsPerAddress == 0 {
		c.ConnsPerAddress = 512
	}
	if c.MessagesPerAddress == 0 {
		c.MessagesPerAddress = 2 * c.StrangersPerMinute
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// triesPerMinute is how often, for each request a minute without a key, an
// address may name a space or an account that this relay has to look for. What
// is there costs nothing.
const triesPerMinute = 5

// What an address may have of connections, however few ConnsPerAddress says.
const (
	leastOpened = 512 // that it opens in a minute
	leastAtOnce = 128 // that it opens at once
	leastIdle   = 16  // that wait for a next request
)

// maxHead is how many bytes the head of a request may have.
const maxHead = 16 << 10

// Server serves one relay.
type Server struct {
	Config
	window    httpsig.Window
	strangers relay.Pace // by address, of those who ask without a key
	unknown   relay.Pace // by address, of those who name what is not here
	messages  relay.Pace // by address, of those who leave messages
	traders   relay.Pace // by address, of those who ask the market with a key
	published relay.Pace // by address, of those who sell
	bodies    bodies
	waiting   shares     // listeners
	conns     shares     // by address
	opened    relay.Pace // by address, of connections
	idle      idle       // connections, by address
	requests  shares     // by address, of what comes through proxies
	metrics   *metrics
	readiness readiness
	draining  chan struct{} // closed when no request may wait any more
	drainOnce sync.Once
}

// New gives a server that serves nothing yet.
func New(c Config) *Server {
	c = c.withDefaults()
	s := &Server{Config: c, window: httpsig.Window{Now: c.Now, Max: c.Nonces},
		strangers: relay.Pace{PerMinute: c.StrangersPerMinute, Now: c.Now},
		unknown:   relay.Pace{PerMinute: triesPerMinute * c.StrangersPerMinute, Now: c.Now},
		messages:  relay.Pace{PerMinute: max(1, c.MessagesPerAddress/10), AtOnce: c.MessagesPerAddress, Now: c.Now},
		traders:   relay.Pace{PerMinute: tradesEach * c.StrangersPerMinute, Now: c.Now},
		published: relay.Pace{PerMinute: publishPerMinute, AtOnce: publishAtOnce, Now: c.Now},
		bodies:    newBodies(), waiting: shares{total: int64(c.MaxConns)},
		conns: shares{each: int64(c.ConnsPerAddress)}, requests: shares{each: int64(c.ConnsPerAddress)},
		opened:   relay.Pace{PerMinute: int64(max(leastOpened, c.ConnsPerAddress)), AtOnce: int64(max(leastAtOnce, c.ConnsPerAddress/4)), Now: c.Now},
		idle:     idle{most: max(leastIdle, c.ConnsPerAddress/8)},
		draining: make(chan struct{})}
	s.metrics = newMetrics(func() float64 { return float64(c.Relay.Hub().Listening() + c.Relay.Mail().Listening()) },
		func() float64 { return float64(s.bodies.known.sum()) }, func() float64 { return float64(s.bodies.strangers.sum()) })
	return s
}

var quiet sync.Once

// Serve answers on ln until ctx is done; then it lets running requests end,
// for as long as Drain says, and returns nil. It closes ln. A server serves
// once.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	quiet.Do(func() { hlog.SetOutput(io.Discard) }) // it would log addresses
	l := &listener{Listener: ln, server: s, conns: map[*conn]struct{}{}}
	options := []config.Option{
		server.WithListener(l), server.WithTransport(standard.NewTransporter),
		server.WithOnAccept(func(c net.Conn) context.Context { return context.WithValue(context.Background(), connKey{}, c) }),
		server.WithStreamBody(true), server.WithDisablePreParseMultipartForm(true),
		server.WithMaxRequestBodySize(page.MaxRequest), server.WithMaxHeaderBytes(maxHead),
		server.WithHandleMethodNotAllowed(true), server.WithRedirectTrailingSlash(false),
		server.WithIdleTimeout(s.Idle), server.WithReadTimeout(0),
		server.WithExitWaitTime(s.Drain), server.WithDisablePrintRoute(true),
	}
	if s.TLS != nil {
		options = append(options, server.WithTLS(s.TLS))
	}
	h := server.New(options...)
	h.Use(s.access)
	h.NoRoute(func(_ context.Context, c *app.RequestContext) { s.fail(c, errNoRoute) })
	h.NoMethod(func(_ context.Context, c *app.RequestContext) { s.fail(c, errNoMethod) })
	s.routes(h)

	ended := make(chan error, 1)
	go func() { ended <- h.Run() }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	s.drainOnce.Do(func() { close(s.draining) })
	l.drain()
	over, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Drain)
	defer cancel()
	err := h.Shutdown(over)
	l.closeAll()
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		ln.Close()
		return fmt.Errorf("stop serving on %s: %w", ln.Addr(), err)
	}
	<-ended
	return nil
}

func (s *Server) routes(h *server.Hertz) {
	h.GET("/healthz", s.health)
	h.GET("/readyz", s.ready)
	h.GET("/v1/account", s.signed(0, s.account))
	h.DELETE("/v1/account", s.signed(0, s.deleteAccount))
	h.DELETE("/v1/spaces/:space", s.signed(0, s.deleteSpace))
	h.POST("/v1/spaces/:space/log", s.signed(maxEntry, s.appendLog))
	h.GET("/v1/spaces/:space/log", s.signed(0, s.log))
	h.POST("/v1/spaces/:space/deltas", s.signed(page.MaxRequest, s.append))
	h.GET("/v1/spaces/:space/deltas", s.signed(0, s.deltas))
	h.POST("/v1/spaces/:space/forget", s.signed(16<<10, s.forget))
	h.POST("/v1/spaces/:space/checkpoints", s.signed(envelope.MaxCheckpoint, s.putCheckpoint))
	h.GET("/v1/spaces/:space/checkpoints", s.signed(0, s.checkpoints))
	h.GET("/v1/spaces/:space/places", s.signed(0, s.places))
	h.DELETE("/v1/spaces/:space/checkpoints/:id", s.signed(0, s.deleteCheckpoint))
	h.POST("/v1/spaces/:space/votes", s.signed(envelope.MaxVote, s.putVote))
	h.POST("/v1/spaces/:space/compact", s.signed(64, s.compact))
	h.GET("/v1/spaces/:space/events", s.signed(0, s.events))
	h.PUT("/v1/spaces/:space/blobs/:id", s.signed(page.MaxChunk, s.putBlob))
	h.HEAD("/v1/spaces/:space/blobs/:id", s.signed(0, s.headBlob))
	h.GET("/v1/spaces/:space/blobs/:id", s.signed(0, s.getBlob))
	h.DELETE("/v1/spaces/:space/blobs/:id", s.signed(0, s.deleteBlob))
	h.POST("/v1/mailboxes/:id", s.stranger(page.MaxMessage, s.post))
	h.GET("/v1/mailboxes/:id", s.stranger(0, s.message))
	s.marketRoutes(h)
}
