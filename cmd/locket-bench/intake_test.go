package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestIntakeSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "intake", "--events", "60", "--rounds", "1", "--audio", "2", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "intake", stdout)
	for _, c := range []string{"journal_events_per_s", "journal_events_per_s_extracting", "journal_events_per_s_plain", "journal_events_per_s_bare", "commit_events_per_s", "commit_cpu_ms_per_event"} {
		if r := got[c]; r.Value <= 0 || r.N != 60 {
			t.Errorf("%s: %+v", c, r)
		}
	}
	if r := got["journal_events_per_s"]; r.Peer != "plain" && r.Peer != "bare" || r.Ratio <= 0 {
		t.Errorf("no peer: %+v", r)
	}
	if r, ok := got["cpu_s_per_audio_hour"]; !ok || r.Value < 0 {
		t.Errorf("cpu_s_per_audio_hour: %+v", r)
	}
	for _, args := range [][]string{{"intake", "--window", "0"}, {"intake", "more"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}

// A host answers each order, and a wrong one with an error.
func TestHost(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader(`{"do":"device"}{"do":"usage"}{"do":"search","texts":["x"]}{"do":"dance"}{"do":"stop"}`)
	if err := hostMain(context.Background(), []string{"bare", t.TempDir(), ""}, in, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], "tcp://127.0.0.1:") || !strings.Contains(lines[2], "can't be asked") || !strings.Contains(lines[3], "dance") || lines[4] != "{}" {
		t.Errorf("%q", lines)
	}
	for _, args := range [][]string{nil, {"tower", t.TempDir(), ""}} {
		if err := hostMain(context.Background(), args, strings.NewReader(""), &out); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
