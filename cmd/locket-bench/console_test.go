package main

import "testing"

func TestConsoleSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "console", "--memories", "200", "--names", "60", "--rounds", "1", "--slower", "1", "--axe", "../../node/console/web/node_modules/axe-core/axe.min.js", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "console", stdout)
	for name, unit := range map[string]string{"first_page_s": "s", "page_today_ms": "ms", "page_graph_ms": "ms", "page_p95_ms": "ms", "graph_fps_60": "1/s", "graph_time_fps_60": "1/s", "script_kb": "kB"} {
		if r := got[name]; r.Unit != unit || r.Value <= 0 || r.N < 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if kb := got["script_kb"].Value; kb > 250 {
		t.Errorf("the script has %v kB compressed, more than 250", kb)
	}
	if r, ok := got["axe_serious"]; !ok || r.Value != 0 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"console", "--names", "1"}, {"console", "--memories", "100"}, {"console", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
