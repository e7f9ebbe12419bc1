package api

import (
	"context"
	"crypto/rand"

	"github.com/cloudwego/hertz/pkg/app"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/locket-dev/locket/sync/remote/page"
)

// A trace has one span for a request, and two below it: for checking the
// caller, and for the work. The spans have the same content as the access log.
// The relay does not continue a trace that a client names, because anyone could
// then write into another client's trace.

func (s *Server) tracer() trace.Tracer {
	if s.Traces == nil {
		return noop.NewTracerProvider().Tracer("")
	}
	return s.Traces.Tracer("github.com/locket-dev/locket/cloud/api")
}

// begin gives a request an id and a span.
func (s *Server) begin(ctx context.Context, c *app.RequestContext) (context.Context, trace.Span, string) {
	id := rand.Text()
	c.Header(page.FieldRequest, id)
	ctx, span := s.tracer().Start(ctx, method(c)+" "+route(c), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method(c)), attribute.String("http.route", route(c)), attribute.String("locket.request", id)))
	return ctx, span, id
}

func (s *Server) end(span trace.Span, status, in, out int) {
	span.SetAttributes(attribute.Int("http.response.status_code", status), attribute.Int("http.request.body.size", in), attribute.Int("http.response.body.size", out))
	if status >= 500 {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// step runs f in a span below the request's.
func (s *Server) step(ctx context.Context, name string, f func(context.Context) error) error {
	ctx, span := s.tracer().Start(ctx, name)
	defer span.End()
	err := f(ctx)
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	return err
}

func route(c *app.RequestContext) string {
	if r := c.FullPath(); r != "" {
		return r
	}
	return "none"
}
