package main

import (
	"strings"
	"testing"
)

// Each size has its cases, and its peer is the fastest of at least equal
// recall.
func TestRecallResults(t *testing.T) {
	run := func(engine string, n int, recall, p99 float64) recallRun {
		return recallRun{Engine: engine, N: n, Recall: recall, P50: p99 / 2, P99: p99, QPS: 100, Build: 1, Open: 1, Bytes: 1, Idle: 1, Hot: 1}
	}
	got := map[string]result{}
	for _, r := range recallResults([]recallRun{
		run("locket", 1000, 90, 1), run("locket", 100_000, 90, 1), run("bleve", 100_000, 95, 4), run("sqlite", 100_000, 80, 2),
		run("locket", 1_000_000, 90, 2), run("bleve", 1_000_000, 80, 9),
	}) {
		got[r.Case] = r
	}
	if r := got["hybrid_p99_100k"]; r.N != 100_000 || r.Peer != "bleve" || r.Ratio != 4 || r.Note != "" {
		t.Errorf("%+v", r)
	}
	if r := got["hybrid_p99_1m"]; r.N != 1_000_000 || r.Peer != "bleve" || r.Ratio != 4.5 || !strings.Contains(r.Note, "no peer has equal recall") {
		t.Errorf("%+v", r)
	}
	for _, c := range []string{"hybrid_p99_1k", "index_rss_idle_100k"} {
		if r, ok := got[c]; ok {
			t.Errorf("%+v", r)
		}
	}
	for _, c := range []string{"hybrid_p50_100k", "queries_per_s_100k", "index_rss_idle", "index_rss_100k", "cold_start_100k", "index_bytes_100k", "index_rss_idle_1m"} {
		if _, ok := got[c]; !ok {
			t.Errorf("%s is missing", c)
		}
	}
	if r := recallResults([]recallRun{run("bleve", 10, 1, 1)}); len(r) != 0 {
		t.Errorf("results without Locket: %+v", r)
	}
}
