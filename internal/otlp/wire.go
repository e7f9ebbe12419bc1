package otlp

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/locket-dev/locket/internal/span"
)

// The messages of OTLP 1.9 that are sent, in their JSON form: names in lowerCamelCase,
// 64-bit integers as decimal strings, enums as numbers, and ids of traces and spans in
// hexadecimal (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).

type tracesRequest struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type scopeSpans struct {
	Scope scope      `json:"scope"`
	Spans []wireSpan `json:"spans"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// value has exactly one of its fields.
type value struct {
	String string `json:"stringValue,omitempty"`
	Int    string `json:"intValue,omitempty"`
}

type wireSpan struct {
	TraceID           string      `json:"traceId"`
	SpanID            string      `json:"spanId"`
	ParentSpanID      string      `json:"parentSpanId,omitempty"`
	Name              string      `json:"name"`
	Kind              int         `json:"kind"`
	StartTimeUnixNano string      `json:"startTimeUnixNano"`
	EndTimeUnixNano   string      `json:"endTimeUnixNano"`
	Attributes        []attribute `json:"attributes,omitempty"`
	Status            status      `json:"status"`
}

type status struct {
	Code int `json:"code,omitempty"`
}

const statusError = 2

type metricsRequest struct {
	ResourceMetrics []resourceMetrics `json:"resourceMetrics"`
}

type resourceMetrics struct {
	Resource     resource       `json:"resource"`
	ScopeMetrics []scopeMetrics `json:"scopeMetrics"`
}

type scopeMetrics struct {
	Scope   scope    `json:"scope"`
	Metrics []metric `json:"metrics"`
}

// metric has one of Gauge, Sum, Histogram and Summary.
type metric struct {
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Gauge       *points `json:"gauge,omitempty"`
	Sum         *points `json:"sum,omitempty"`
	Histogram   *points `json:"histogram,omitempty"`
	Summary     *points `json:"summary,omitempty"`
}

type points struct {
	DataPoints  []point `json:"dataPoints"`
	Temporality int     `json:"aggregationTemporality,omitempty"`
	Monotonic   bool    `json:"isMonotonic,omitempty"`
}

const cumulative = 2

// point is a number, or a point of a histogram or a summary.
type point struct {
	Attributes        []attribute `json:"attributes,omitempty"`
	StartTimeUnixNano string      `json:"startTimeUnixNano,omitempty"`
	TimeUnixNano      string      `json:"timeUnixNano"`
	AsDouble          *float64    `json:"asDouble,omitempty"`
	Count             string      `json:"count,omitempty"`
	Sum               *float64    `json:"sum,omitempty"`
	BucketCounts      []string    `json:"bucketCounts,omitempty"`
	ExplicitBounds    []float64   `json:"explicitBounds,omitempty"`
	QuantileValues    []quantile  `json:"quantileValues,omitempty"`
}

type quantile struct {
	Quantile float64 `json:"quantile"`
	Value    float64 `json:"value"`
}

func text(key, v string) attribute { return attribute{key, value{String: v}} }

func nano(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func spanOf(s *span.Span) wireSpan {
	w := wireSpan{TraceID: hex.EncodeToString(s.Trace[:]), SpanID: hex.EncodeToString(s.ID[:]), Name: s.Name, Kind: int(s.Kind),
		StartTimeUnixNano: nano(s.Begun), EndTimeUnixNano: nano(s.Begun.Add(s.Ended.Sub(s.Begun)))} // the clock may have been set meanwhile
	if s.Parent != ([8]byte{}) {
		w.ParentSpanID = hex.EncodeToString(s.Parent[:])
	}
	if s.Failed {
		w.Status.Code = statusError
	}
	for _, a := range s.Attributes {
		v := value{String: a.Text}
		if a.Text == "" {
			v.Int = strconv.FormatInt(a.Number, 10)
		}
		w.Attributes = append(w.Attributes, attribute{a.Key, v})
	}
	return w
}

// metricOf converts one of Prometheus's families into a metric. It returns false for one without
// points, and for a kind that is not sent. JSON has no infinity, so points that are not finite are
// left out.
func metricOf(f *dto.MetricFamily, begun, now time.Time, keep func(label, value string) bool) (m metric, ok bool) {
	m = metric{Name: f.GetName(), Description: f.GetHelp()}
	list := &points{DataPoints: []point{}}
	switch f.GetType() {
	case dto.MetricType_GAUGE, dto.MetricType_UNTYPED:
		m.Gauge = list
	case dto.MetricType_COUNTER:
		m.Sum, list.Temporality, list.Monotonic = list, cumulative, true
	case dto.MetricType_HISTOGRAM:
		m.Histogram, list.Temporality = list, cumulative
	case dto.MetricType_SUMMARY:
		m.Summary = list
	default:
		return m, false
	}
	for _, of := range f.GetMetric() {
		p, ok := pointOf(of, now, keep)
		if !ok {
			continue
		}
		if m.Gauge == nil {
			p.StartTimeUnixNano = nano(begun)
		}
		list.DataPoints = append(list.DataPoints, p)
	}
	return m, len(list.DataPoints) > 0
}

func pointOf(of *dto.Metric, now time.Time, keep func(label, value string) bool) (p point, ok bool) {
	p.TimeUnixNano = nano(now)
	for _, l := range of.GetLabel() {
		if keep != nil && !keep(l.GetName(), l.GetValue()) {
			return p, false
		}
		p.Attributes = append(p.Attributes, text(l.GetName(), l.GetValue()))
	}
	number := func(v float64) (point, bool) {
		p.AsDouble = &v
		return p, finite(v)
	}
	switch {
	case of.GetGauge() != nil:
		return number(of.GetGauge().GetValue())
	case of.GetUntyped() != nil:
		return number(of.GetUntyped().GetValue())
	case of.GetCounter() != nil:
		return number(of.GetCounter().GetValue())
	case of.GetHistogram() != nil:
		h := of.GetHistogram()
		sum, before := h.GetSampleSum(), uint64(0)
		p.Count, p.Sum = strconv.FormatUint(h.GetSampleCount(), 10), &sum
		for _, b := range h.GetBucket() { // Prometheus counts cumulatively, OTLP for each bucket
			if finite(b.GetUpperBound()) {
				p.ExplicitBounds = append(p.ExplicitBounds, b.GetUpperBound())
				p.BucketCounts = append(p.BucketCounts, strconv.FormatUint(b.GetCumulativeCount()-before, 10))
				before = b.GetCumulativeCount()
			}
		}
		p.BucketCounts = append(p.BucketCounts, strconv.FormatUint(h.GetSampleCount()-before, 10))
		return p, finite(sum)
	case of.GetSummary() != nil:
		s := of.GetSummary()
		sum := s.GetSampleSum()
		p.Count, p.Sum = strconv.FormatUint(s.GetSampleCount(), 10), &sum
		for _, q := range s.GetQuantile() {
			if finite(q.GetValue()) {
				p.QuantileValues = append(p.QuantileValues, quantile{q.GetQuantile(), q.GetValue()})
			}
		}
		return p, finite(sum)
	}
	return p, false
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }
