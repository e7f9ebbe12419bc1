package api

import (
	"context"
	"sync"
	"time"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/relay"
)

// readyFor is how long the store's last answer is reused, because anyone may
// ask.
const readyFor = time.Second

// readyWithin is how long the store may take to answer.
const readyWithin = 5 * time.Second

// readiness caches whether the store answered.
type readiness struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

func (r *readiness) check(ctx context.Context, now time.Time, ask func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() || now.Sub(r.at) >= readyFor {
		ctx, cancel := context.WithTimeout(ctx, readyWithin)
		defer cancel()
		r.err, r.at = ask(ctx), now
	}
	return r.err
}

// ready reports whether requests should be sent to this relay: the store
// answers, and the relay is not shutting down. healthz reports only that the
// process runs.
func (s *Server) ready(ctx context.Context, c *app.RequestContext) {
	select {
	case <-s.draining:
		s.fail(c, relay.ErrBusy)
		return
	default:
	}
	if err := s.readiness.check(context.WithoutCancel(ctx), s.Now(), s.Relay.Check); err != nil {
		s.Log.Error("not ready", "error", err)
		s.fail(c, relay.ErrUnavailable)
		return
	}
	c.SetContentType("application/json")
	c.Response.SetBodyString(`{"status":"ready"}`)
}
