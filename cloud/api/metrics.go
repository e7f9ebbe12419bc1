package api

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the server's metrics for Prometheus. The values of labels are the
// server's own methods and routes, so that clients can't make any number of
// them.
type metrics struct {
	registry       *prometheus.Registry
	requests       *prometheus.CounterVec
	received, sent *prometheus.CounterVec
	seconds        *prometheus.HistogramVec
}

func newMetrics(listening, known, strangers func() float64) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locket_relay_requests_total", Help: "Requests answered."}, []string{"method", "route", "status"}),
		received: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locket_relay_received_bytes_total", Help: "Bytes of bodies that came."}, []string{"method", "route"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "locket_relay_sent_bytes_total", Help: "Bytes of bodies that went."}, []string{"method", "route"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "locket_relay_request_seconds", Help: "Time from a request's head to its answer; long-polls and event streams wait in it.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8)}, []string{"method", "route"}),
	}
	m.registry.MustRegister(m.requests, m.received, m.sent, m.seconds, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "locket_relay_listeners", Help: "Streams and requests that wait."}, listening))
	for of, held := range map[string]func() float64{"known": known, "strangers": strangers} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "locket_relay_held_bytes",
			Help: "Bytes of bodies that are on their way in.", ConstLabels: prometheus.Labels{"of": of}}, held))
	}
	return m
}

func (m *metrics) add(method, route string, status, in, out int, took time.Duration) {
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.received.WithLabelValues(method, route).Add(float64(in))
	m.sent.WithLabelValues(method, route).Add(float64(out))
	m.seconds.WithLabelValues(method, route).Observe(took.Seconds())
}

// Metrics returns the registry of the server's metrics. Callers may register
// others in it.
func (s *Server) Metrics() *prometheus.Registry { return s.metrics.registry }
