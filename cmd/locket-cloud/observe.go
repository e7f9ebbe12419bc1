package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/otlp"
)

const tracesPath = "/v1/traces"

// readCollector parses the URL of an OpenTelemetry collector. If it ends in the path for traces,
// the collector gets only traces, and base is empty. Otherwise it is the base of the collector's
// paths for traces and metrics.
func readCollector(s string) (traces, base string, err error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return "", "", fmt.Errorf("%w: --otlp: %.200q: want a URL such as http://127.0.0.1:4318", errUsage, s)
	}
	if strings.HasSuffix(u.Path, tracesPath) {
		return s, "", nil
	}
	return u.JoinPath(tracesPath).String(), s, nil
}

// sendMetrics sends the metrics of a registry to the collector at base until ctx is done.
func sendMetrics(ctx context.Context, base string, every time.Duration, from prometheus.Gatherer, log *slog.Logger) error {
	if base != "" {
		otlp.New(otlp.Config{URL: base, Service: "locket-cloud", Version: thisBuild().Release, Every: every, Metrics: from, Log: log}).Run(ctx)
	}
	return nil
}

// traces returns a provider that sends a part of the spans to an OTLP collector over HTTP.
func traces(ctx context.Context, url string, part float64) (*trace.TracerProvider, error) {
	out, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(url))
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", url, err)
	}
	about := resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName("locket-cloud"), semconv.ServiceVersion(thisBuild().Release))
	return trace.NewTracerProvider(trace.WithBatcher(out), trace.WithResource(about), trace.WithSampler(trace.TraceIDRatioBased(part))), nil
}

// listenBeside listens on addr. Without an address it returns nil.
func listenBeside(what, addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", what, err)
	}
	return ln, nil
}

// serveBeside serves h on its own listener until ctx is done.
func serveBeside(ctx context.Context, what string, ln net.Listener, h http.Handler) error {
	if ln == nil {
		return nil
	}
	s := &http.Server{Handler: h, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute, MaxHeaderBytes: 8 << 10}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", what, err)
	}
	return nil
}

// pooled is a store that keeps connections to a database.
type pooled interface {
	// Pool returns how many connections are in use, idle and allowed, and how long requests have
	// waited for one since the start.
	Pool() (used, idle, most int, waited time.Duration)
}

// counted returns a registry with the metrics of the server, of Go and the process, and of the
// connections to the database.
func counted(server *api.Server, store relay.Store) *prometheus.Registry {
	reg := server.Metrics()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if p, ok := store.(pooled); ok {
		gauge := func(state string, value func() int) {
			reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "locket_relay_database_connections",
				Help: "Connections to the database.", ConstLabels: prometheus.Labels{"state": state}}, func() float64 { return float64(value()) }))
		}
		gauge("in_use", func() int { used, _, _, _ := p.Pool(); return used })
		gauge("idle", func() int { _, idle, _, _ := p.Pool(); return idle })
		gauge("allowed", func() int { _, _, most, _ := p.Pool(); return most })
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "locket_relay_database_wait_seconds_total",
			Help: "Time that requests have waited for a connection."}, func() float64 { _, _, _, waited := p.Pool(); return waited.Seconds() }))
	}
	return reg
}

// metricsHandler serves a registry to Prometheus.
func metricsHandler(reg prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	return mux
}

// profileHandler serves Go's profiles. They show the program and the content of its memory, so they
// are only for the operator.
func profileHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
