package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// nodeCollector tells the node's status to Prometheus. It reads it when asked,
// so that nothing is counted twice.
type nodeCollector struct{ node serve.Diagnostics }

var (
	descLocked   = prometheus.NewDesc("locket_locked", "1 where the keys are not open.", nil, nil)
	descPaused   = prometheus.NewDesc("locket_paused", "1 where no events are taken.", nil, nil)
	descBroker   = prometheus.NewDesc("locket_broker_connected", "1 where the broker is connected.", nil, nil)
	descDevices  = prometheus.NewDesc("locket_devices", "Wearables with credentials.", nil, nil)
	descMemories = prometheus.NewDesc("locket_memories", "Active memories.", []string{"type"}, nil)
	descUtter    = prometheus.NewDesc("locket_utterances", "Source records of what was said.", nil, nil)
	descWaiting  = prometheus.NewDesc("locket_journal_waiting_events", "Events that are taken and not yet extracted.", nil, nil)
	descJournal  = prometheus.NewDesc("locket_journal_bytes", "Size of the journal.", nil, nil)
	descAside    = prometheus.NewDesc("locket_quarantined_inputs", "Inputs that were set aside.", nil, nil)
	descDisk     = prometheus.NewDesc("locket_disk_bytes", "The home's file system.", []string{"what"}, nil)
	descCalls    = prometheus.NewDesc("locket_plugin_calls_total", "Calls of an extractor.", []string{"plugin"}, nil)
	descFaults   = prometheus.NewDesc("locket_plugin_faults_total", "Calls that failed.", []string{"plugin"}, nil)
)

// Describe implements prometheus.Collector.
func (c *nodeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descLocked, descPaused, descBroker, descDevices, descMemories, descUtter, descWaiting, descJournal, descAside, descDisk, descCalls, descFaults} {
		ch <- d
	}
}

// statusTime bounds the reading of the status for one scrape.
const statusTime = 5 * time.Second

// Collect implements prometheus.Collector.
func (c *nodeCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	s, err := c.node.Status(ctx)
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
	for _, p := range s.Plugins {
		ch <- prometheus.MustNewConstMetric(descCalls, prometheus.CounterValue, float64(p.Calls), p.Name)
		ch <- prometheus.MustNewConstMetric(descFaults, prometheus.CounterValue, float64(p.Faults), p.Name)
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
