package main

import "testing"

func TestGraphSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "graph", "--edges", "3000", "--queries", "5", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "graph", stdout)
	for name, unit := range map[string]string{"graph_edges_per_s": "1/s", "graph_bytes_per_edge": "B", "pagerank_p50": "ms", "pagerank_p95": "ms", "pagerank_wide_p95": "ms", "communities": "s",
		"atlas_drawn": "s", "entity_p95": "ms", "triplet_p95": "ms"} {
		if r := got[name]; r.N < 1 || r.Unit != unit {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if got["graph_edges_per_s"].Value <= 0 || got["communities"].N < 10 {
		t.Errorf("%+v", got)
	}
	for _, args := range [][]string{{"graph", "--edges", "1"}, {"graph", "--queries", "0"}, {"graph", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
