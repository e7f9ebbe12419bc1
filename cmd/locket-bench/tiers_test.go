package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTiersSuite(t *testing.T) {
	program := filepath.Join(t.TempDir(), "locket")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "./cmd/locket")
	build.Dir = "../.." // the command is of the module above this one
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Few memories, and a budget for fewer; no plugin, which would be compiled first.
	t.Setenv("LOCKET_HOT_RECORDS", "200")
	t.Setenv("LOCKET_PLUGINS_DISABLED", "text,scene,speech")
	code, stdout, stderr := bench(t, "tiers", "--locket", program, "--memories", "400", "--lines", "--questions", "5", "--rest", "100ms", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "tiers", stdout)
	for _, c := range []string{"rss_wearable", "rss_wearable_idle", "rss_wearable_asked", "store_wearable", "recall_p50_cold", "recall_p99_cold", "recall_p50_hot", "recall_p99_hot", "fetch_cold", "share_page_of_utterances"} {
		if r := got[c]; r.Value <= 0 || r.N == 0 || r.Unit == "" {
			t.Errorf("%s: %+v", c, r)
		}
	}
	for _, args := range [][]string{{"tiers", "--memories", "1"}, {"tiers", "--questions", "0"}, {"tiers", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
