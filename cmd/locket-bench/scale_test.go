package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScaleSuite(t *testing.T) {
	plans := filepath.Join(t.TempDir(), "plans")
	code, stdout, stderr := bench(t, "scale", "--rows", "2000", "--accounts", "20", "--times", "1", "--plans", plans, "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "scale", stdout)
	if r := got["size_deltas"]; r.N < 1900 || r.N > 2000 || r.Unit != "MB" || r.Value <= 0 {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"append_1", "append_again", "pull_middle_256", "places", "blob_put", "forget", "account"} {
		if r := got[name]; r.Value <= 0 || r.Unit != "ms" || r.Note == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	b, err := os.ReadFile(plans)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"== append_1", "append_run", "INSERT INTO deltas", "Index Cond: ((account =", "(actual time="} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the plans don't say %q", want)
		}
	}
	if code, _, stderr := bench(t, "scale", "--rows", "10"); code != 2 || stderr == "" {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestScansInAPostgresLog(t *testing.T) {
	said := "LOG:  duration: 0.1 ms  plan:\n\tQuery Text: SELECT\n\tIndex Scan Backward using deltas_pkey on deltas  (cost=1)\n" +
		"LOG:  duration: 2.1 ms  plan:\n\tSeq Scan on blobs  (cost=1)\n\tIndex Scan Backward using deltas_pkey on deltas\n"
	if got := strings.Join(scansOf(said), ", "); got != "index deltas_pkey, Seq Scan blobs" {
		t.Error(got)
	}
}
