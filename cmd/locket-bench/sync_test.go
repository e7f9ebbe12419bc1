package main

import "testing"

func TestSyncSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "sync", "--changes", "2", "--deltas", "10", "--memories", "100", "--idle", "1s", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "sync", stdout)
	for _, c := range []string{"visible_p50", "visible_p99", "bytes_alone", "bytes_tens", "bytes_hundreds", "deltas_per_s", "memories_per_s_sent",
		"first_sync_100", "first_sync_100_bytes"} {
		if r := got[c]; r.Value <= 0 || r.N == 0 || r.Unit == "" {
			t.Errorf("%s: %+v", c, r)
		}
	}
	for c, most := range map[string]float64{"bytes_alone": 640, "bytes_tens": 150, "bytes_hundreds": 95} {
		if r := got[c]; r.Value > most || r.Peer != "zstd_json" || r.Ratio <= 0 {
			t.Errorf("%s: %+v, want at most %g", c, r, most)
		}
		if _, ok := got[c+"_restic"]; !ok {
			t.Errorf("%s_restic is missing", c)
		}
	}
	if r := got["bytes_hundreds"]; r.Value > 1.15*r.PeerValue {
		t.Errorf("over 1.15 times what zstd leaves: %+v", r)
	}
	for _, c := range []string{"idle_hour_bytes", "idle_hour_wakeups"} {
		if _, ok := got[c]; !ok {
			t.Errorf("%s is missing", c)
		}
	}
	for _, args := range [][]string{{"sync", "--parts", "all"}, {"sync", "--idle", "1ms"}, {"sync", "--memories", "0"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
