package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
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
	standin "github.com/locket-dev/locket/internal/testing/collector"
)

// Spans reach a collector by OTLP over HTTP: as a protobuf of spans at the path in the URL.
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

// One URL is enough for traces and metrics. A URL for traces only still works.
func TestReadCollector(t *testing.T) {
	for in, want := range map[string][2]string{
		"http://127.0.0.1:4318":             {"http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318"},
		"https://otlp.example/otlp/":        {"https://otlp.example/otlp/v1/traces", "https://otlp.example/otlp/"},
		"http://127.0.0.1:4318/v1/traces":   {"http://127.0.0.1:4318/v1/traces", ""},
		"https://otlp.example/a/v1/traces":  {"https://otlp.example/a/v1/traces", ""},
		"ftp://x":                           {},
		"127.0.0.1:4318":                    {},
		"http://127.0.0.1:4318/?key=secret": {},
	} {
		to, base, err := readCollector(in)
		if got := [2]string{to, base}; got != want || (err != nil) != (want[0] == "") || err != nil && !errors.Is(err, errUsage) {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
}

// A collector gets the relay's metrics, by route and not by space. The test's collector accepts
// only valid OTLP messages.
func TestMetricsAreSent(t *testing.T) {
	server, store := served(t, "/v1/spaces/"+strings.Repeat("5e", 16)+"/log")
	to := standin.New(t)
	took := make(chan bool, 8)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to.ServeHTTP(w, r)
		took <- r.URL.Path == "/v1/metrics"
	}))
	defer door.Close()
	sending, stop := context.WithCancel(t.Context())
	sent := make(chan error, 1)
	go func() {
		sent <- sendMetrics(sending, door.URL, time.Hour, counted(server, busy{store}), slog.New(slog.DiscardHandler))
	}()
	if !<-took {
		t.Error("not at the path of metrics")
	}
	stop()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"locket_relay_requests_total", "locket_relay_request_seconds", "locket_relay_listeners", "locket_relay_database_connections", "process_open_fds"} {
		if to.Metric(name) == nil {
			t.Errorf("no %s in %.2000s", name, to.Raw())
		}
	}
	if strings.Contains(to.Raw(), "5e5e") || !strings.Contains(to.Raw(), "locket-cloud") {
		t.Errorf("%.2000s", to.Raw())
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

// busy is a store with a connection pool, like PostgreSQL's.
type busy struct{ relay.Store }

func (busy) Pool() (used, idle, most int, waited time.Duration) { return 3, 4, 16, 2 * time.Second }

// served returns a relay that has answered one request, and its store.
func served(t *testing.T, path string) (*api.Server, relay.Store) {
	t.Helper()
	store, err := embedded.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	server := api.New(api.Config{Relay: relay.New(store, relay.Config{})})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	res, err := http.Get("http://" + ln.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return server, store
}

// Prometheus gets metrics of requests, of the process, and of the database.
func TestMetrics(t *testing.T) {
	server, store := served(t, "/healthz")
	told := httptest.NewRecorder()
	metricsHandler(counted(server, busy{store})).ServeHTTP(told, httptest.NewRequest("GET", "/metrics", nil))
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
