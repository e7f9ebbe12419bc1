package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/locket-dev/locket/cloud/api"
)

// traces gives where spans go: to an OTLP collector over HTTP, a part of them.
func traces(ctx context.Context, url string, part float64) (*trace.TracerProvider, error) {
	out, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(url))
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w", url, err)
	}
	about := resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName("locket-cloud"), semconv.ServiceVersion(version().Release))
	return trace.NewTracerProvider(trace.WithBatcher(out), trace.WithResource(about), trace.WithSampler(trace.TraceIDRatioBased(part))), nil
}

// listenBeside gives nil for no address.
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

// serveBeside answers on a listener of its own, until ctx is done.
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

func metricsHandler(server *api.Server) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_ = server.WriteMetrics(w) // who asked has left
	})
	return mux
}

// profileHandler serves Go's profiles. They show the program, and what is in
// its memory while it runs: for the operator's own eyes.
func profileHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
