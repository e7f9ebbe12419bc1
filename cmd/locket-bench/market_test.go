package main

import "testing"

func TestMarketSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "market", "--listings", "300", "--searches", "5", "--rounds", "2", "--entries", "5", "--rules", "20", "--people", "60", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "market", stdout)
	for name, want := range map[string]struct{ unit, peer string }{"projections_per_s": {"1/s", ""}, "reidentified_percent": {"%", ""}, "policy_decide_p99_us": {"µs", "cedar-go"},
		"order_round_p99_ms": {"ms", ""}, "order_round_p99_ms_postgres": {"ms", ""}, "log_append_per_s": {"1/s", ""}, "log_append_per_s_postgres": {"1/s", ""}, "search_p99": {"ms", "bare full-text search"}} {
		if r, ok := got[name]; !ok || r.Unit != want.unit || r.N < 1 || want.peer != "" && r.Peer != want.peer || name != "reidentified_percent" && r.Value <= 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := got["search_p99"]; r.N != 300 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"market", "--listings", "0"}, {"market", "--rules", "2000"}, {"market", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
