// Package otlp sends spans and metrics to an OpenTelemetry collector: OTLP over HTTP, as JSON. It
// is for the node, where OpenTelemetry's own packages are too large, and for a relay's metrics
// (docs/decisions.md).
//
// Nothing waits for the collector. A span goes into a queue of a fixed length, and is dropped if
// that is full.
package otlp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/wait"
)

const (
	maxWaiting = 2048            // spans in the queue: about 1 MB
	maxBatch   = 512             // spans in a request
	gather     = 5 * time.Second // how long a span waits for others
	sendTime   = 10 * time.Second
	lastTime   = time.Second     // time for what is left at the end
	firstRest  = 5 * time.Second // wait after a failure
	longRest   = 5 * time.Minute
	maxAnswer  = 64 << 10 // bytes of an answer to read
)

// Config configures an exporter. URL, Service and Log are required.
type Config struct {
	URL      string // of the collector, such as http://127.0.0.1:4318; the paths for traces and metrics are appended
	Service  string // name of the service
	Version  string
	Every    time.Duration                  // interval of sending the metrics
	Metrics  prometheus.Gatherer            // nil: no metrics are sent
	KeepOnly func(label, value string) bool // which points of metrics are sent; nil: all
	Log      *slog.Logger
}

// Exporter is a span.Sink that sends. It is safe for concurrent use.
type Exporter struct {
	c       Config
	begun   time.Time
	about   resource
	http    *http.Client
	queue   chan span.Span
	parting time.Duration // see lastTime; longer in tests
	dropped atomic.Uint64 // spans that found the queue full, or that the collector refused
}

// New makes an exporter, which sends nothing before Run.
func New(c Config) *Exporter {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost, transport.IdleConnTimeout = 1, 2, 2*time.Minute
	return &Exporter{c: c, begun: time.Now(), queue: make(chan span.Span, maxWaiting), parting: lastTime,
		// The instance is random and lasts as long as the process, so it reveals nothing about the
		// home.
		about: resource{[]attribute{text("service.name", c.Service), text("service.version", c.Version), text("service.instance.id", rand.Text())}},
		// A redirect would lead to an address that was not configured.
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Take implements span.Sink.
func (e *Exporter) Take(s span.Span) {
	select {
	case e.queue <- s:
	default:
		e.dropped.Add(1)
	}
}

// Dropped returns how many spans were lost.
func (e *Exporter) Dropped() uint64 { return e.dropped.Load() }

// Run sends until ctx is done, and then the rest for one second.
func (e *Exporter) Run(ctx context.Context) {
	defer e.http.CloseIdleConnections()
	var both sync.WaitGroup
	both.Go(func() { e.sendSpans(ctx) })
	if e.c.Metrics != nil {
		both.Go(func() { e.sendMetrics(ctx) })
	}
	both.Wait()
}

func (e *Exporter) sendSpans(ctx context.Context) {
	// A request that is running when ctx ends continues; otherwise nothing waiting behind it would
	// be sent.
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(e.parting, cancel) })()
	for {
		batch, over := e.collect(ctx)
		if over {
			for len(batch) > 0 && e.post(last, "traces", e.traces(batch)) == nil {
				batch = e.drain()
			}
			return
		}
		if !e.insist(ctx, last, batch) {
			return // it has not answered, so waiting any longer is pointless
		}
	}
}

// collect waits for a span, and then for a while for more.
func (e *Exporter) collect(ctx context.Context) (batch []span.Span, over bool) {
	select {
	case s := <-e.queue:
		batch = append(batch, s)
	case <-ctx.Done():
		return e.drain(), true
	}
	late := time.NewTimer(gather)
	defer late.Stop()
	for len(batch) < maxBatch {
		select {
		case s := <-e.queue:
			batch = append(batch, s)
		case <-late.C:
			return batch, false
		case <-ctx.Done():
			return append(batch, e.drain()...), true
		}
	}
	return batch, false
}

// drain returns what is in the queue now, at most a batch.
func (e *Exporter) drain() (batch []span.Span) {
	for len(batch) < maxBatch {
		select {
		case s := <-e.queue:
			batch = append(batch, s)
		default:
			return batch
		}
	}
	return batch
}

// insist sends a batch until the collector has accepted or refused it. It returns false if ctx
// ended before that. A running request may then continue until last ends.
func (e *Exporter) insist(ctx, last context.Context, batch []span.Span) bool {
	body := e.traces(batch)
	pace, told := retry.Backoff{First: firstRest, Most: longRest}, false
	for {
		err := e.post(last, "traces", body)
		var f *fault
		switch {
		case err == nil:
			if told {
				e.c.Log.Info("the collector takes spans again", "left_out", e.Dropped())
			}
			return true
		case errors.As(err, &f) && !f.passes:
			e.dropped.Add(uint64(len(batch)))
			e.c.Log.Warn("the collector refused spans", "error", err)
			return true
		case ctx.Err() != nil:
			return false
		case !told:
			e.c.Log.Warn("spans wait for the collector", "error", err)
			told = true
		}
		rest := pace.Next()
		if f != nil && f.after > 0 {
			rest = f.after
		}
		if !wait.For(ctx, rest) {
			return false
		}
	}
}

// sendMetrics sends the metrics at intervals. What could not be sent is in the next message,
// because counts begin with the process.
func (e *Exporter) sendMetrics(ctx context.Context) {
	tick := time.NewTicker(e.c.Every)
	defer tick.Stop()
	failed := false
	for {
		err := e.postMetrics(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			e.c.Log.Warn("metrics are not sent", "error", err)
		}
		failed = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (e *Exporter) postMetrics(ctx context.Context) error {
	families, err := e.c.Metrics.Gather()
	if err != nil && len(families) == 0 {
		return fmt.Errorf("gather: %w", err)
	}
	list, now := []metric{}, time.Now()
	for _, f := range families {
		if m, ok := metricOf(f, e.begun, now, e.c.KeepOnly); ok {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return e.post(ctx, "metrics", metricsRequest{[]resourceMetrics{{e.about, []scopeMetrics{{e.scope(), list}}}}})
}

func (e *Exporter) traces(batch []span.Span) tracesRequest {
	list := make([]wireSpan, len(batch))
	for i := range batch {
		list[i] = spanOf(&batch[i])
	}
	return tracesRequest{[]resourceSpans{{e.about, []scopeSpans{{e.scope(), list}}}}}
}

func (e *Exporter) scope() scope {
	return scope{"github.com/locket-dev/locket/internal/otlp", e.c.Version}
}

// fault is an unsuccessful answer of the collector.
type fault struct {
	status int
	passes bool          // it may accept the same later
	after  time.Duration // when; 0: it did not say
}

func (f *fault) Error() string {
	return fmt.Sprintf("it answered %d %s", f.status, http.StatusText(f.status))
}

// post sends one message. An error is a *fault, or says why there was no answer.
func (e *Exporter) post(ctx context.Context, what string, m any) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", what, err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	to, err := url.JoinPath(e.c.URL, "v1", what)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Locket/"+strings.TrimPrefix(e.c.Version, "v"))
	res, err := e.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // so that the connection can be reused
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	f := &fault{status: res.StatusCode}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout: // those of the specification
		f.passes = true
		f.after = retry.Asked(res.Header.Get("Retry-After"), time.Now(), longRest)
	}
	return f
}
