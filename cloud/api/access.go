package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/relay"
)

// access wraps every request: it tells the connection how far the request is,
// recovers from panics, counts, and writes the access log.
func (s *Server) access(ctx context.Context, c *app.RequestContext) {
	size := max(0, c.Request.Header.ContentLength())
	if cn := connOf(ctx); cn != nil {
		cn.begin(min(size, 8<<20))
		defer func() { cn.end(c.Response.ConnectionClose()) }()
		if cn.listener.isDraining() {
			c.SetConnectionClose()
		}
	}
	began := time.Now()
	ctx, span, id := s.begin(ctx, c)
	func() {
		defer func() {
			if p := recover(); p != nil {
				s.fail(c, fmt.Errorf("panic: %v", p))
			}
		}()
		if address := s.forwarded(c); address != "" {
			of := holder{address: address}
			if !s.requests.reserve(of, 1) {
				s.fail(c, relay.ErrBusy)
				c.Abort()
				return
			}
			defer s.requests.release(of, 1)
		}
		if twoLengths(c.Request.Header.RawHeaders()) {
			s.fail(c, errLengths)
			c.SetConnectionClose() // where the next request begins can't be known
			c.Abort()
			return
		}
		c.Next(ctx)
	}()
	compress(c)
	status, took := c.Response.StatusCode(), time.Since(began)
	out := max(0, c.Response.Header.ContentLength(), len(c.Response.BodyBytes()))
	s.end(span, status, size, out)
	s.metrics.add(method(c), route(c), status, size, out, took)
	s.Log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("id", id), slog.String("method", method(c)), slog.String("route", route(c)),
		slog.Int("status", status), slog.Int("in", size), slog.Int("out", out), slog.Float64("ms", float64(took.Microseconds())/1000))
}

// twoLengths reports whether a head says more than once where the body ends. Hertz believes
// the last field and a proxy may believe the first. The bytes between the two ends would
// then be the body for one of them and a request for the other (RFC 9112, section 6.3).
func twoLengths(head []byte) bool {
	n := 0
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) || bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			n++
		}
	}
	return n > 1
}

// method returns a request's method, or one common name for all methods that no
// route has.
func method(c *app.RequestContext) string {
	switch m := string(c.Method()); m {
	case "GET", "HEAD", "POST", "PUT", "DELETE":
		return m
	}
	return "other"
}
