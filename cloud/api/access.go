package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
)

// access is around every request: it tells the connection where the request
// is, catches what goes wrong, counts, and logs what may be logged.
func (s *Server) access(ctx context.Context, c *app.RequestContext) {
	size := max(0, c.Request.Header.ContentLength())
	if cn := connOf(ctx); cn != nil {
		cn.begin(min(size, 8<<20))
		defer cn.end()
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
		c.Next(ctx)
	}()
	compress(c)
	status, took := c.Response.StatusCode(), time.Since(began)
	out := max(0, c.Response.Header.ContentLength(), len(c.Response.BodyBytes()))
	s.end(span, status, size, out)
	s.counters.add(series{method: method(c), route: route(c), status: status}, size, out, took)
	s.Log.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("id", id), slog.String("method", method(c)), slog.String("route", route(c)),
		slog.Int("status", status), slog.Int("in", size), slog.Int("out", out), slog.Float64("ms", float64(took.Microseconds())/1000))
}

// method gives a method's name, one name for all that no route has.
func method(c *app.RequestContext) string {
	switch m := string(c.Method()); m {
	case "GET", "HEAD", "POST", "PUT", "DELETE":
		return m
	}
	return "other"
}

// series is one line of counters: no value of it comes from outside unbounded.
type series struct {
	method, route string
	status        int
}

type count struct {
	requests, in, out int64
	took              time.Duration
}

type counters struct {
	mu sync.Mutex
	of map[series]count
}

func (c *counters) add(k series, in, out int, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[series]count{}
	}
	v := c.of[k]
	v.requests, v.in, v.out, v.took = v.requests+1, v.in+int64(in), v.out+int64(out), v.took+took
	c.of[k] = v
}

// WriteMetrics writes the counters as Prometheus reads them (text format 0.0.4).
func (s *Server) WriteMetrics(w io.Writer) error {
	s.counters.mu.Lock()
	all := maps.Clone(s.counters.of)
	s.counters.mu.Unlock()
	keys := slices.SortedFunc(maps.Keys(all), func(a, b series) int {
		return cmp.Or(cmp.Compare(a.route, b.route), cmp.Compare(a.method, b.method), cmp.Compare(a.status, b.status))
	})
	for _, m := range []struct {
		name, help string
		value      func(count) float64
	}{
		{"locket_relay_requests_total", "Requests answered.", func(c count) float64 { return float64(c.requests) }},
		{"locket_relay_received_bytes_total", "Bytes of bodies that came.", func(c count) float64 { return float64(c.in) }},
		{"locket_relay_sent_bytes_total", "Bytes of bodies that went.", func(c count) float64 { return float64(c.out) }},
		{"locket_relay_request_seconds_total", "Time spent, waiting included.", func(c count) float64 { return c.took.Seconds() }},
	} {
		if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n", m.name, m.help, m.name); err != nil {
			return err
		}
		for _, k := range keys {
			if _, err := fmt.Fprintf(w, "%s{method=%q,route=%q,status=\"%d\"} %v\n", m.name, k.method, k.route, k.status, m.value(all[k])); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintf(w, "# HELP locket_relay_listeners Streams and requests that wait.\n# TYPE locket_relay_listeners gauge\nlocket_relay_listeners %d\n",
		s.Relay.Hub().Listening()+s.Relay.Mail().Listening())
	return err
}
