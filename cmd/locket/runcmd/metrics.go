package runcmd

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// nodeCollector reports the node's status to Prometheus. It reads the status for each scrape, so
// that nothing is counted twice.
type nodeCollector struct {
	health  serve.Diagnostics
	plugins serve.Plugger
}

var descLocked = prometheus.NewDesc("locket_locked", "1 if the keys are not open.", nil, nil)

var descPaused = prometheus.NewDesc("locket_paused", "1 if no events are accepted.", nil, nil)

var descBroker = prometheus.NewDesc("locket_broker_connected", "1 if the broker is connected.", nil, nil)

var descDevices = prometheus.NewDesc("locket_devices", "Wearables with credentials.", nil, nil)

var descMemories = prometheus.NewDesc("locket_memories", "Active memories.", []string{"type"}, nil)

var descUtter = prometheus.NewDesc("locket_utterances", "Source records of what was said.", nil, nil)

var descWaiting = prometheus.NewDesc("locket_journal_waiting_events", "Events that were accepted and not yet extracted.", nil, nil)

var descJournal = prometheus.NewDesc("locket_journal_bytes", "Size of the journal.", nil, nil)

var descAside = prometheus.NewDesc("locket_quarantined_inputs", "Inputs that were set aside.", nil, nil)

var descDisk = prometheus.NewDesc("locket_disk_bytes", "The home's file system.", []string{"what"}, nil)

var descCalls = prometheus.NewDesc("locket_plugin_calls_total", "Calls of an extractor.", []string{"plugin"}, nil)

var descFaults = prometheus.NewDesc("locket_plugin_faults_total", "Calls that failed.", []string{"plugin", "kind"}, nil)

var descFuel = prometheus.NewDesc("locket_plugin_fuel_total", "Fuel that an extractor spent.", []string{"plugin"}, nil)

var descSeconds = prometheus.NewDesc("locket_plugin_seconds_total", "Time in an extractor's calls.", []string{"plugin"}, nil)

var descPeak = prometheus.NewDesc("locket_plugin_peak_memory_bytes", "Most linear memory after a call.", []string{"plugin"}, nil)

var descLate = prometheus.NewDesc("locket_plugin_late_calls_total", "Calls over the time limit.", []string{"plugin"}, nil)

var descDropped = prometheus.NewDesc("locket_plugin_dropped_candidates_total", "Candidates that were left out.", []string{"plugin"}, nil)

var descRuns = prometheus.NewDesc("locket_plugin_runs", "1 if an extractor runs, 0 if it is off, disabled or broken.", []string{"plugin"}, nil)

// Describe implements prometheus.Collector.
func (c *nodeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descLocked, descPaused, descBroker, descDevices, descMemories, descUtter, descWaiting, descJournal, descAside, descDisk, descCalls, descFaults,
		descFuel, descSeconds, descPeak, descLate, descDropped, descRuns} {
		ch <- d
	}
}

// statusTime bounds the reading of the status for one scrape.
const statusTime = 5 * time.Second

// Collect implements prometheus.Collector.
func (c *nodeCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	s, err := c.health.Status(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(descLocked, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(descLocked, number(s.Locked))
	gauge(descPaused, number(s.Pause.Paused))
	gauge(descBroker, number(s.Broker.Connected))
	gauge(descDevices, float64(s.Devices))
	for _, t := range memory.Types {
		gauge(descMemories, float64(s.Memories[t]), string(t))
	}
	gauge(descUtter, float64(s.Utterances))
	gauge(descWaiting, float64(s.Journal.Waiting))
	gauge(descJournal, float64(s.Journal.Bytes))
	gauge(descAside, float64(s.Journal.Quarantined))
	gauge(descDisk, float64(s.Disk.Used), "used")
	gauge(descDisk, float64(s.Disk.Free), "free")
	gauge(descDisk, float64(s.Disk.Reserve), "reserve")
	plugins, err := c.plugins.Plugins(ctx)
	if err != nil && !errors.Is(err, memory.ErrLocked) { // a locked node has no plugins
		ch <- prometheus.NewInvalidMetric(descCalls, err)
	}
	for _, p := range plugins {
		count := func(d *prometheus.Desc, v float64, labels ...string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, append([]string{p.ID}, labels...)...)
		}
		count(descCalls, float64(p.Calls))
		count(descFuel, float64(p.Fuel))
		count(descSeconds, p.Seconds)
		count(descLate, float64(p.Late))
		count(descDropped, float64(p.Dropped))
		for kind, n := range p.Faults {
			count(descFaults, float64(n), kind)
		}
		gauge(descPeak, float64(p.PeakBytes), p.ID)
		gauge(descRuns, number(p.State == serve.PluginRuns), p.ID)
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
