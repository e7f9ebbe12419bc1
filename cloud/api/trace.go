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

// A trace has one span for a request, and below it one for checking who asks
// and one for doing it. They say what the access log says, and nothing else. A
// trace that a client says it is part of is not taken up: anyone could fill
// another's.

func (s *Server) tracer() trace.Tracer {
	if s.Traces == nil {
		return noop.NewTracerProvider().Tracer("")
	}
	return s.Traces.Tracer("github.com/locket-dev/locket/cloud/api")
}

// begin gives a request its id, and its span.
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

// step is a span below a request's.
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
