package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Spans reach a collector as OTLP over HTTP says: a protobuf of spans at the
// path that the URL names.
func TestTracesAreSent(t *testing.T) {
	got := make(chan *collector.ExportTraceServiceRequest, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		m := new(collector.ExportTraceServiceRequest)
		if err != nil || r.Method != "POST" || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(b, m) != nil {
			http.Error(w, "not OTLP", http.StatusBadRequest)
			return
		}
		got <- m
	}))
	defer s.Close()
	p, err := traces(t.Context(), s.URL+"/v1/traces", 1)
	if err != nil {
		t.Fatal(err)
	}
	_, span := p.Tracer("test").Start(context.Background(), "a span")
	span.End()
	if err := p.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	text := (<-got).String()
	if !strings.Contains(text, "a span") || !strings.Contains(text, "locket-cloud") {
		t.Fatal(text)
	}
}

func TestProfiles(t *testing.T) {
	s := httptest.NewServer(profileHandler())
	defer s.Close()
	res, err := http.Get(s.URL + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || !strings.Contains(string(b), "goroutine profile") {
		t.Fatal(err, string(b))
	}
}
