package main

import "testing"

func TestSiegeSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "siege", "--devices", "2", "--rate", "10", "--hostile", "2", "--for", "3s", "--postgres=false", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "siege", stdout)
	for name, unit := range map[string]string{"honest_appends_ratio": "ratio", "honest_p99_ms": "ms", "pairing_ok_percent": "%", "relay_rss_growth_mb": "MB"} {
		if r := got[name]; r.N < 1 || r.Unit != unit || r.Value <= 0 && name != "relay_rss_growth_mb" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, args := range [][]string{{"siege", "--devices", "0"}, {"siege", "--for", "1h"}, {"siege", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
