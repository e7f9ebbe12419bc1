package otlp

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/testing/collector"
)

var quiet = slog.New(slog.DiscardHandler)

// started runs an exporter until the returned function is called. At the end it has the time
// parting for the rest.
func started(t *testing.T, c Config, parting time.Duration) (*Exporter, context.Context, func()) {
	t.Helper()
	c.Service, c.Version, c.Log = "locket", "v1.2.3", quiet
	if c.Every == 0 {
		c.Every = time.Hour
	}
	e := New(c)
	e.parting = parting
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	return e, span.With(t.Context(), e), sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
}

// Spans and metrics match the official definitions.
func TestOTLP(t *testing.T) {
	to := collector.New(t)
	reg := prometheus.NewRegistry()
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "calls_total", Help: "Calls."}, []string{"plugin"})
	took := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "took_seconds", Buckets: []float64{1, 2}})
	free := prometheus.NewGauge(prometheus.GaugeOpts{Name: "free_bytes"})
	odd := prometheus.NewGauge(prometheus.GaugeOpts{Name: "odd"})
	rest := prometheus.NewSummary(prometheus.SummaryOpts{Name: "rest_seconds", Objectives: map[float64]float64{0.5: 0.1}})
	reg.MustRegister(calls, took, free, odd, rest)
	calls.WithLabelValues("ours").Add(3)
	calls.WithLabelValues("heart").Add(9)
	for _, v := range []float64{0.5, 1.5, 1.7, 9} {
		took.Observe(v)
	}
	free.Set(-7)
	odd.Set(math.NaN())

	_, ctx, stop := started(t, Config{URL: to.URL, Metrics: reg, KeepOnly: func(label, value string) bool { return label != "plugin" || value == "ours" }}, time.Minute)
	outer, request := span.Serve(ctx, "GET", "/v1/memories/{id}")
	inner, work := span.Start(outer, "recall")
	work.Count("locket.hits", 3)
	_, asked := span.Ask(inner, "engine")
	asked.Note("locket.engine", "ears")
	asked.End(errors.New("the key is 1234"))
	work.End(nil)
	request.End(nil)
	to.Await(func() bool { return to.Metric("took_seconds") != nil })
	stop() // this sends the rest

	spans := to.Spans()
	if len(spans) != 3 {
		t.Fatal(spans)
	}
	engine, recall, get := spans[0], spans[1], spans[2]
	if string(engine.ParentSpanId) != string(recall.SpanId) || string(recall.ParentSpanId) != string(get.SpanId) || len(get.ParentSpanId) != 0 ||
		string(engine.TraceId) != string(get.TraceId) || string(recall.TraceId) != string(get.TraceId) {
		t.Error("they are not within each other: ", spans)
	}
	if get.Name != "GET /v1/memories/{id}" || recall.Attributes[0].Value.GetIntValue() != 3 || engine.Attributes[0].Value.GetStringValue() != "ears" {
		t.Error(spans)
	}
	if engine.Status.GetCode() != 2 || recall.Status.GetCode() != 0 || strings.Contains(to.Raw(), "1234") {
		t.Error(to.Raw())
	}
	sums := to.Metric("calls_total").GetSum().GetDataPoints()
	if len(sums) != 1 || sums[0].GetAsDouble() != 3 || sums[0].Attributes[0].Value.GetStringValue() != "ours" {
		t.Error(sums)
	}
	if h := to.Metric("took_seconds").GetHistogram().GetDataPoints(); len(h) != 1 || h[0].Count != 4 || h[0].GetSum() != 12.7 ||
		!slices.Equal(h[0].BucketCounts, []uint64{1, 2, 1}) || !slices.Equal(h[0].ExplicitBounds, []float64{1, 2}) {
		t.Error(h)
	}
	if g := to.Metric("free_bytes").GetGauge().GetDataPoints(); len(g) != 1 || g[0].GetAsDouble() != -7 {
		t.Error(g)
	}
	if to.Metric("odd") != nil || len(to.Metric("rest_seconds").GetSummary().GetDataPoints()) != 1 {
		t.Error(to.Metric("odd"), to.Metric("rest_seconds"))
	}
}

// A span that begins without a sink is not kept, and its child does no harm.
func TestSpanWithoutSink(t *testing.T) {
	ctx, work := span.Start(t.Context(), "recall")
	if work != nil || ctx != t.Context() || span.With(ctx, nil) != ctx {
		t.Error("a span without a sink")
	}
	work.Count("locket.hits", 1)
	work.Note("locket.engine", "ears")
	work.Fail()
	work.End(nil)
}

// A collector that accepts the connection and never answers holds nobody up: spans beyond the queue
// are dropped, and the end does not wait for it.
func TestStalls(t *testing.T) {
	asked, over := make(chan struct{}, 1), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(over)
	e, ctx, stop := started(t, Config{URL: s.URL}, lastTime)
	for range maxBatch {
		_, work := span.Start(ctx, "commit")
		work.End(nil)
	}
	<-asked // it stalls at the first batch
	for range maxWaiting + 100 {
		_, work := span.Start(ctx, "commit")
		work.End(nil)
	}
	if e.Dropped() != 100 {
		t.Error(e.Dropped(), " left out, want what the queue has no room for")
	}
	stop() // if this hangs, the test's own limit ends it
}

// A request that is running when the exporter ends continues, and what waits behind it is sent,
// too.
func TestShutdownDuringSend(t *testing.T) {
	to := collector.New(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() { close(asked); <-answer })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first()
		to.ServeHTTP(w, r)
	}))
	defer s.Close()
	e := New(Config{URL: s.URL, Service: "locket", Log: quiet})
	e.parting = time.Minute
	running, end := context.WithCancel(t.Context())
	var ran sync.WaitGroup
	ran.Go(func() { e.Run(running) })
	ctx := span.With(t.Context(), e)
	for range maxBatch {
		_, work := span.Start(ctx, "commit")
		work.End(nil)
	}
	<-asked
	_, work := span.Start(ctx, "recall")
	work.End(nil)
	end()
	close(answer)
	ran.Wait()
	if n := len(to.Spans()); n != maxBatch+1 {
		t.Error(n, " spans came, want ", maxBatch+1)
	}
}

// The same if nothing listens.
func TestUnreachableCollector(t *testing.T) {
	s := httptest.NewServer(nil)
	s.Close()
	e, ctx, stop := started(t, Config{URL: s.URL, Metrics: prometheus.NewRegistry()}, lastTime)
	for range maxWaiting + maxBatch + 100 {
		_, work := span.Start(ctx, "commit")
		work.End(nil)
	}
	if e.Dropped() == 0 {
		t.Error("all of it was kept")
	}
	stop()
}

// What an answer means: send it again later, or never. Redirects are not followed.
func TestRefused(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	for status, passes := range map[int]bool{400: false, 401: false, 413: false, 307: false, 500: false, 429: true, 502: true, 503: true, 504: true} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(status)
		}))
		e := New(Config{URL: s.URL, Service: "locket", Log: quiet})
		var f *fault
		if err := e.post(t.Context(), "traces", e.traces(nil)); !errors.As(err, &f) || f.passes != passes || passes != (f.after == 7*time.Second) {
			t.Errorf("%d: %v, %+v", status, err, f)
		}
		s.Close()
	}
}

// A batch that the collector can't accept now is sent again, once.
func TestRefusedBatchIsRetriedOnce(t *testing.T) {
	to := collector.New(t)
	asked := make(chan int, 10)
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked <- 1; len(asked) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		to.ServeHTTP(w, r)
	}))
	defer busy.Close()
	_, ctx, stop := started(t, Config{URL: busy.URL}, time.Minute)
	defer stop()
	for range maxBatch { // a full batch does not wait for more
		_, work := span.Start(ctx, "commit")
		work.End(nil)
	}
	to.Await(func() bool { return len(to.Spans()) > 0 })
	if n := len(to.Spans()); n != maxBatch || len(asked) != 2 {
		t.Error(n, " spans came in ", len(asked), " requests")
	}
}
