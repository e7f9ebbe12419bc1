package main

import "testing"

func TestSiegeSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "siege", "--devices", "2", "--rate", "10", "--hostile", "2", "--for", "3s", "--postgres=false", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "siege", stdout)
	for name, unit := range map[string]string{"honest_appends_ratio": "ratio", "honest_p99_ms": "ms", "pairing_ok_percent": "%", "relay_rss_growth_mb": "MB"} {
		r := got[name]
		ok := r.N >= 1 && r.Value > 0 && r.Unit == unit
		switch name {
		case "relay_rss_growth_mb": // it may not grow
			ok = r.N >= 1 && r.Unit == unit
		case "pairing_ok_percent": // how many end in three seconds is the machine's affair
			ok = r.Unit == unit && r.Value >= 0 && r.Value <= 100
		}
		if !ok {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for _, args := range [][]string{{"siege", "--devices", "0"}, {"siege", "--for", "1h"}, {"siege", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
