// Package api serves a relay over HTTP/1.1. It uses Hertz, and is the only
// package that imports it. docs/protocol.md, section HTTP, describes what it
// serves.
//
// A request is checked in the order of cost: first its size, then the form, age
// and signature of its fields, then the caller's quota, and only then its body,
// whose digest is signed. The log has the method, route, status, sizes and time
// of a request, and nothing else.
package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
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
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/turns"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
)

// Config says how to serve. Only Relay is required. The comments give the
// values that replace a zero.
type Config struct {
	Relay  *relay.Relay
	Market *market.Market // nil: there is no market
	// MarketLog serves the market's transparency log under /v1/market/log/; nil: there is none.
	MarketLog http.Handler
	// Witness cosigns the logs of other markets, under /v1/witness/; nil: there is none.
	Witness http.Handler
	Log     *slog.Logger // nil: nothing is logged
	TLS     *tls.Config  // nil: no TLS, for a proxy in front, or for this machine alone
	// Authorities are the names, with their ports, for which a request may be signed. If there are
	// none, only the loopback names are accepted, for a relay that serves its own machine. So a
	// request that was signed for another relay can't be passed on to this one.
	Authorities []string
	// StrangersPerMinute is how many requests a minute one address may make
	// without a key: for mailboxes, and to found a space. 0: 60.
	StrangersPerMinute int64
	MaxConns           int // 16,384
	// ConnsPerAddress is how many connections one address may have at a time;
	// 0: 512. An eighth of them may wait for a next request. A quarter may be
	// opened at once, and as many as ConnsPerAddress in a minute. For a client
	// behind a proxy it is the number of running requests.
	ConnsPerAddress    int
	MessagesPerAddress int64         // messages that one address may leave in mailboxes at once, and in each ten minutes; 0: twice StrangersPerMinute
	Nonces             int           // how many to remember for ten minutes; 0: httpsig.Remembered
	Head               time.Duration // time for the head of a request to come; 0: 10 s
	Idle               time.Duration // time between two requests; 0: 75 s
	Heartbeat          time.Duration // interval of signs of life in an event stream; 0: 20 s
	Drain              time.Duration // time for running requests to end; 0: 10 s
	Now                func() time.Time
	Traces             trace.TracerProvider // receives spans; nil: none
	// Proxies are the networks of trusted proxies, whose X-Forwarded-For is
	// believed. If a proxy is not listed, all clients behind it count as one
	// address and share its limits.
	Proxies clientaddr.Proxies
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
	c.StrangersPerMinute = cmp.Or(c.StrangersPerMinute, 60)
	c.MaxConns = cmp.Or(c.MaxConns, 16384)
	c.ConnsPerAddress = cmp.Or(c.ConnsPerAddress, 512)
	c.MessagesPerAddress = cmp.Or(c.MessagesPerAddress, 2*c.StrangersPerMinute)
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c
}

// triesPerMinute limits how often an address may name an unknown space or
// account, for which the relay has to ask the store. It is multiplied by
// StrangersPerMinute. Known ones do not count.
const triesPerMinute = 5

// These are the least limits of an address, however small ConnsPerAddress is.
const (
	leastOpened = 512 // connections that it may open in a minute
	leastAtOnce = 128 // connections that it may open at once
	leastIdle   = 16  // connections that may wait for a next request
)

// maxHead is the greatest number of bytes of the head of a request.
const maxHead = 16 << 10

// Server serves one relay.
type Server struct {
	Config
	window    httpsig.Window
	strangers relay.Pace // by address: requests without a key
	unknown   relay.Pace // by address: requests that name unknown spaces or accounts
	messages  relay.Pace // by address: messages left in mailboxes
	traders   relay.Pace // by address: market requests with a key
	published relay.Pace // by address: publications of sellers
	bodies    pools
	answers   pools      // bytes of answers that are being written
	waiting   shares     // listeners
	conns     shares     // by address
	opened    relay.Pace // by address: new connections
	idle      idleConns  // by address: waiting connections
	requests  shares     // by address: requests that came through proxies
	metrics   *metrics
	readiness readiness
	draining  chan struct{} // closed when requests must not wait any more
	drainOnce sync.Once

	// Requests that read much of a space.
	heavy         turns.Turns // by account
	heavyOfMember turns.Turns // by member
}

// New returns a server. It serves nothing until Serve is called.
func New(c Config) *Server {
	c = c.withDefaults()
	s := &Server{Config: c, window: httpsig.Window{Now: c.Now, Max: c.Nonces},
		strangers: relay.Pace{PerMinute: c.StrangersPerMinute, Now: c.Now},
		unknown:   relay.Pace{PerMinute: triesPerMinute * c.StrangersPerMinute, Now: c.Now},
		messages:  relay.Pace{PerMinute: max(1, c.MessagesPerAddress/10), AtOnce: c.MessagesPerAddress, Now: c.Now},
		traders:   relay.Pace{PerMinute: tradesEach * c.StrangersPerMinute, Now: c.Now},
		published: relay.Pace{PerMinute: publishPerMinute, AtOnce: publishAtOnce, Now: c.Now},
		bodies:    newPools(maxBodies, maxStrangers), answers: newPools(maxAnswers, maxStrangerAnswers), waiting: shares{total: int64(c.MaxConns)},
		conns: shares{perHolder: int64(c.ConnsPerAddress)}, requests: shares{perHolder: int64(c.ConnsPerAddress)},
		opened:   relay.Pace{PerMinute: int64(max(leastOpened, c.ConnsPerAddress)), AtOnce: int64(max(leastAtOnce, c.ConnsPerAddress/4)), Now: c.Now},
		idle:     idleConns{most: max(leastIdle, c.ConnsPerAddress/8)},
		draining: make(chan struct{}), heavy: turns.Turns{Each: heavyEach}, heavyOfMember: turns.Turns{Each: 1}}
	s.metrics = newMetrics(func() float64 { return float64(c.Relay.Hub().Listening() + c.Relay.Mail().Listening()) },
		func() float64 { return float64(s.bodies.known.sum()) }, func() float64 { return float64(s.bodies.strangers.sum()) })
	return s
}

var quiet sync.Once

// Serve answers requests on ln until ctx is done. Then it waits for running
// requests, at most for the time Drain, and returns nil. It closes ln. It may
// be called once only.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	quiet.Do(func() { hlog.SetOutput(io.Discard) }) // Hertz's own log would contain addresses
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
	h.POST("/v1/spaces/:space/checkpoints", s.signed(envelope.MaxCheckpoint, s.inTurn(s.putCheckpoint)))
	h.GET("/v1/spaces/:space/checkpoints", s.signed(0, s.inTurn(s.checkpoints)))
	h.GET("/v1/spaces/:space/places", s.signed(0, s.inTurn(s.places)))
	h.DELETE("/v1/spaces/:space/checkpoints/:id", s.signed(0, s.deleteCheckpoint))
	h.POST("/v1/spaces/:space/votes", s.signed(envelope.MaxVote, s.inTurn(s.putVote)))
	h.POST("/v1/spaces/:space/compact", s.signed(64, s.inTurn(s.compact)))
	h.GET("/v1/spaces/:space/events", s.signed(0, s.events))
	h.PUT("/v1/spaces/:space/blobs/:id", s.signed(page.MaxChunk, s.putBlob))
	h.HEAD("/v1/spaces/:space/blobs/:id", s.signed(0, s.headBlob))
	h.GET("/v1/spaces/:space/blobs/:id", s.signed(0, s.getBlob))
	h.DELETE("/v1/spaces/:space/blobs/:id", s.signed(0, s.deleteBlob))
	h.POST("/v1/mailboxes/:id", s.unsigned(page.MaxMessage, s.post))
	h.GET("/v1/mailboxes/:id", s.unsigned(0, s.message))
	s.marketRoutes(h)
}
