package main

import (
	"strings"
	"testing"
)

func TestCloudSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "cloud", "--requests", "3", "--batch", "2", "--connections", "4", "--rounds", "1", "--listeners", "120", "--wakes", "2", "--members", "6", "--jobs", "50", "--edges", "500", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "cloud", stdout)
	for name, n := range map[string]int{"append_embedded": 12, "append_embedded_batch": 24, "append_postgres": 12, "append_postgres_batch": 24} {
		if r := got[name]; r.Value <= 0 || r.N != n || r.Peer != "plain_handler" || r.PeerValue <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, unit := range map[string]string{"sse_idle_kb": "KB", "wake_p99": "ms", "rss_idle": "MB", "sse_idle_kb_few": "KB", "wake_p99_few": "ms", "restart_lost": "deltas", "restart_wait_p99": "ms", "append_p99": "ms", "pull_p99": "ms", "jobs_per_s": "1/s", "jobs_per_s_postgres": "1/s", "graph_edges_per_s": "1/s"} {
		if r := got[name]; r.N < 1 || r.Unit != unit || r.Value <= 0 && !strings.HasPrefix(name, "sse_idle_kb") && name != "restart_lost" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	code, stdout, stderr = bench(t, "cloud", "--only", "relays", "--requests", "3", "--connections", "4", "--rounds", "1", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	relays := readResults(t, "cloud", stdout)
	for name, n := range map[string]int{"append_postgres_relays_1": 12, "append_postgres_relays_2": 24, "append_postgres_relays_4": 48} {
		if r := relays[name]; r.Value <= 0 || r.N != n || r.Peer != "one_relay" || r.Ratio <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	code, stdout, stderr = bench(t, "cloud", "--only", "comers", "--comers", "3", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	comers := readResults(t, "cloud", stdout)
	if c, h, r := comers["comers"], comers["comers_hybrid"], comers["comers_read"]; c.Value != 3 || h.Value != 3 || r.N != 9 {
		t.Errorf("%+v, %+v, %+v", c, h, r)
	}
	if lost := got["restart_lost"].Value; lost != 0 {
		t.Errorf("%v deltas are lost", lost)
	}
	for _, args := range [][]string{{"cloud", "--batch", "0"}, {"cloud", "--batch", "257"}, {"cloud", "more"}, {"cloud", "--share", "101"}, {"cloud", "--only", "embedded,nothing"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
