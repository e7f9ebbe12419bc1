// Package collector is an OpenTelemetry collector for tests. It decodes by the official definitions
// of OTLP, and refuses what is not in them.
package collector

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	metricsreq "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracesreq "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Collector takes traces and metrics. Its methods are safe for concurrent use.
type Collector struct {
	URL string

	mu      sync.Mutex
	raw     []byte // all received bodies
	spans   []*traces.Span
	metrics map[string]*metrics.Metric // their last values
	wrong   []error
	came    chan struct{} // closed when the next body has been received
}

// New runs a collector until the test ends. The test fails if anything received was not OTLP.
func New(t *testing.T) *Collector {
	c := &Collector{metrics: map[string]*metrics.Metric{}, came: make(chan struct{})}
	s := httptest.NewServer(c)
	c.URL = s.URL
	t.Cleanup(func() {
		s.Close()
		for _, err := range c.wrong {
			t.Error("the collector refused what came: ", err)
		}
	})
	return c
}

// Raw returns all received bodies.
func (c *Collector) Raw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.raw)
}

// Spans returns the received spans.
func (c *Collector) Spans() []*traces.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans[:len(c.spans):len(c.spans)]
}

// Metric returns the last value of a metric, or nil.
func (c *Collector) Metric(name string) *metrics.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics[name]
}

// Await returns once wanted reports true. The test's own limit bounds it.
func (c *Collector) Await(wanted func() bool) {
	for {
		c.mu.Lock()
		came := c.came
		c.mu.Unlock()
		if wanted() {
			return
		}
		<-came
	}
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(append(c.raw, body...), '\n')
	if err == nil {
		err = c.take(r, body)
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		c.wrong = append(c.wrong, err)
		w.WriteHeader(http.StatusBadRequest)
	}
	fmt.Fprint(w, "{}")
	close(c.came)
	c.came = make(chan struct{})
}

func (c *Collector) take(r *http.Request, body []byte) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method != http.MethodPost || kind != "application/json" {
		return fmt.Errorf("%s of %q", r.Method, kind)
	}
	switch r.URL.Path {
	case "/v1/traces":
		m := new(tracesreq.ExportTraceServiceRequest)
		if err := decode(body, m); err != nil {
			return err
		}
		for _, of := range m.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, s := range scope.Spans {
					if err := checkSpan(s); err != nil {
						return err
					}
					c.spans = append(c.spans, s)
				}
			}
		}
	case "/v1/metrics":
		m := new(metricsreq.ExportMetricsServiceRequest)
		if err := decode(body, m); err != nil {
			return err
		}
		for _, of := range m.ResourceMetrics {
			for _, scope := range of.ScopeMetrics {
				for _, one := range scope.Metrics {
					if err := checkMetric(one); err != nil {
						return fmt.Errorf("%s: %w", one.Name, err)
					}
					c.metrics[one.Name] = one
				}
			}
		}
	default:
		return fmt.Errorf("path %s", r.URL.Path)
	}
	return nil
}

// decode reads OTLP's JSON: protobuf's, except for the ids, which are hexadecimal. Unknown names
// are refused.
func decode(body []byte, m proto.Message) error {
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		return err
	}
	if err := plainIDs(tree); err != nil {
		return err
	}
	again, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return protojson.Unmarshal(again, m)
}

func plainIDs(v any) error {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := plainIDs(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, one := range v {
			if size := map[string]int{"traceId": 16, "spanId": 8, "parentSpanId": 8}[name]; size > 0 {
				text, _ := one.(string)
				b, err := hex.DecodeString(text)
				if err != nil || len(b) != size {
					return fmt.Errorf("%s %q", name, text)
				}
				v[name] = base64.StdEncoding.EncodeToString(b)
			} else if err := plainIDs(one); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkSpan(s *traces.Span) error {
	begun, ended, now := time.Unix(0, int64(s.StartTimeUnixNano)), time.Unix(0, int64(s.EndTimeUnixNano)), time.Now()
	switch {
	case s.Name == "" || s.Kind == traces.Span_SPAN_KIND_UNSPECIFIED:
		return fmt.Errorf("a span without name or kind: %v", s)
	case len(s.TraceId) != 16 || len(s.SpanId) != 8 || string(s.SpanId) == string(s.ParentSpanId):
		return fmt.Errorf("ids of %v", s)
	case ended.Before(begun) || begun.Before(now.Add(-time.Hour)) || ended.After(now.Add(time.Second)):
		return fmt.Errorf("%s from %v to %v", s.Name, begun, ended)
	}
	return nil
}

func checkMetric(m *metrics.Metric) error {
	cumulative := metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	switch d := m.Data.(type) {
	case *metrics.Metric_Gauge:
		for _, p := range d.Gauge.DataPoints {
			if p.Value == nil || p.TimeUnixNano == 0 {
				return fmt.Errorf("point %v", p)
			}
		}
	case *metrics.Metric_Sum:
		if d.Sum.AggregationTemporality != cumulative || !d.Sum.IsMonotonic {
			return fmt.Errorf("sum %v", d.Sum)
		}
		for _, p := range d.Sum.DataPoints {
			if p.Value == nil || p.StartTimeUnixNano == 0 || p.StartTimeUnixNano > p.TimeUnixNano {
				return fmt.Errorf("point %v", p)
			}
		}
	case *metrics.Metric_Histogram:
		if d.Histogram.AggregationTemporality != cumulative {
			return fmt.Errorf("histogram %v", d.Histogram)
		}
		for _, p := range d.Histogram.DataPoints {
			all := uint64(0)
			for _, n := range p.BucketCounts {
				all += n
			}
			if p.StartTimeUnixNano == 0 || all != p.Count || len(p.BucketCounts) != len(p.ExplicitBounds)+1 {
				return fmt.Errorf("point %v", p)
			}
		}
	case *metrics.Metric_Summary:
		for _, p := range d.Summary.DataPoints {
			if p.StartTimeUnixNano == 0 || p.TimeUnixNano == 0 {
				return fmt.Errorf("point %v", p)
			}
		}
	default:
		return fmt.Errorf("of no kind: %v", m)
	}
	return nil
}
