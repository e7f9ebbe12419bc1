package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/remote/page"
)

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// An answer is compressed if the client accepts that, and decompresses to the same bytes. Requests
// must not be compressed.
func TestEncodings(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("encodings")
	for range 20 {
		s.send(h, h.Owner, strings.Repeat("x", 300))
	}
	read := func(accept string) (string, []byte) {
		r := s.owner(h, "GET", "/deltas")
		req := r.request(t, s.addr)
		req.Header.Set("Accept-Encoding", accept)
		res, err := http.DefaultTransport.RoundTrip(req)
		s.ok(err)
		b, err := io.ReadAll(res.Body)
		s.ok(errors.Join(err, res.Body.Close()))
		if res.Header.Get("Vary") != "Accept-Encoding" {
			t.Error("no Vary")
		}
		return res.Header.Get("Content-Encoding"), b
	}
	_, plain := read("identity")
	for accept, want := range map[string]string{"gzip": "gzip", "zstd": "zstd", "gzip, zstd;q=0.9": "gzip", "br, ZSTD , gzip": "zstd", "gzip;q=0": "", "gzip;q=x": "", "*": "", "": ""} {
		how, b := read(accept)
		var r io.Reader = bytes.NewReader(b)
		var err error
		switch how {
		case "gzip":
			r, err = gzip.NewReader(r)
		case "zstd":
			r, err = zstd.NewReader(r)
		}
		s.ok(err)
		got, err := io.ReadAll(r)
		s.ok(err)
		if how != want || !bytes.Equal(got, plain) || how != "" && len(b) >= len(plain) {
			t.Errorf("%q: %q, %d bytes", accept, how, len(b))
		}
	}
	for _, c := range []struct{ field, value string }{{"Content-Encoding", "gzip"}, {"Content-Encoding", "zstd"}, {"Content-Encoding", "gzip, gzip"},
		{"Content-Type", "application/json"}, {"Content-Type", "multipart/form-data; boundary=x"}, {"Content-Type", "text/xml"}} {
		r := s.owner(h, "POST", "/deltas")
		r.body, r.field[c.field] = []byte{0x80}, c.value
		if res, _, kind := r.do(t, s.addr); res.StatusCode != 415 || kind != page.MediaType && kind != page.Encoding {
			t.Errorf("%s: %s: %s", c.field, c.value, res.Status)
		}
	}
}

// A relay is ready if it can serve; one without its store is not.
func TestReady(t *testing.T) {
	ready := func(s *service, want int) {
		t.Helper()
		if res, b := get(t, "http://"+s.addr+"/readyz"); res.StatusCode != want {
			t.Fatal(res.Status, b)
		}
		if res, b := get(t, "http://"+s.addr+"/healthz"); res.StatusCode != 200 {
			t.Fatal(res.Status, b)
		}
	}
	ready(instance(t, database(t, &cluster), t.TempDir(), nil), 200)
	var later atomic.Int64
	s := serve(t, relay.Config{Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }}, nil)
	ready(s, 200)
	s.ok(s.store.Close())
	later.Store(int64(2 * time.Second))
	ready(s, 503)
}

// A trace has the content of the access log: route, status, sizes. A request's id is in its answer,
// its problem, the log and the trace.
func TestTraces(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	p := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	defer p.Shutdown(context.Background())
	s := serve(t, relay.Config{}, func(c *api.Config) { c.Traces = p })
	h := s.settle("traced")
	s.send(h, h.Owner, "something private")
	res, problem, _ := s.owner(h, "GET", "/blobs/"+strings.Repeat("00", 32)).do(t, s.addr)
	id := res.Header.Get(page.FieldRequest)
	if len(id) < 20 || problem.Instance != "urn:locket:request:"+id || !strings.Contains(s.logs.String(), id) {
		t.Fatal(id, problem)
	}
	s.ok(s.stop())
	names, text := map[string]int{}, ""
	for _, span := range spans.Ended() {
		names[span.Name()]++
		for _, a := range span.Attributes() {
			text += string(a.Key) + "=" + a.Value.String() + "\n"
		}
	}
	if names["POST /v1/spaces/:space/deltas"] != 1 || names["check"] == 0 || names["serve"] == 0 || !strings.Contains(text, id) {
		t.Fatal(names, text)
	}
	for _, private := range []string{h.Space.String(), h.Owner.ID.String(), "private", "127.0.0.1"} {
		if strings.Contains(text, private) {
			t.Errorf("%q is in a trace", private)
		}
	}
}
