package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
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

// busy is a store with connections, as PostgreSQL's.
type busy struct{ relay.Store }

func (busy) Pool() (used, idle, most int, waited time.Duration) { return 3, 4, 16, 2 * time.Second }

// Prometheus is told of requests, of the process, and of the database.
func TestMetrics(t *testing.T) {
	store, err := embedded.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	server := api.New(api.Config{Relay: relay.New(store, relay.Config{})})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	res, err := http.Get("http://" + ln.Addr().String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	told := httptest.NewRecorder()
	metricsHandler(server, busy{store}).ServeHTTP(told, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		`locket_relay_requests_total{method="GET",route="/healthz",status="200"} 1`, `locket_relay_request_seconds_count{method="GET",route="/healthz"} 1`,
		`locket_relay_received_bytes_total{method="GET",route="/healthz"} 0`, `locket_relay_sent_bytes_total{method="GET",route="/healthz"} 15`,
		"locket_relay_listeners 0", "go_goroutines ", "process_open_fds ",
		`locket_relay_database_connections{state="in_use"} 3`, `locket_relay_database_connections{state="idle"} 4`,
		`locket_relay_database_connections{state="allowed"} 16`, "locket_relay_database_wait_seconds_total 2",
	} {
		if !strings.Contains(told.Body.String(), "\n"+line) {
			t.Errorf("no %s", line)
		}
	}
	if t.Failed() {
		t.Log(told.Body)
	}
}
