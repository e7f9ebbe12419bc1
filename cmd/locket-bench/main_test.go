package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/wasm"
)

// The recall and intake suites run themselves again in separate processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && (os.Args[1] == "recall" && os.Args[2] == "--child" || os.Args[1] == hostArg || os.Args[1] == cloudHostArg) || len(os.Args) == 2 && os.Args[1] == eightArg {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	if wasm.IsWorker(os.Args) {
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	plugincache.Run(func(dir string) (int, error) {
		cache = dir
		return m.Run(), nil
	})
}

// cache is the folder of compiled plugins for all tests.
var cache string

func bench(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nothing"}, {"locomo"}, {"locomo", "--data", "x", "--k", "0"}, {"locomo", "--what"}, {"locomo", "--data", "x", "--answer"}, {"locomo", "--data", "x", "--llm", "http://x/v1", "--model", "m"}, {"recall", "--sizes", "many"}, {"recall", "--parts", "all"}, {"extract", "--scenes", "-1"}, {"extract", "--set", "none"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
	if code, _, stderr := bench(t, "help"); code != 0 || !strings.Contains(stderr, "locomo") {
		t.Errorf("help: exit %d, %q", code, stderr)
	}
	if code, _, _ := bench(t, "locomo", "--data", filepath.Join(t.TempDir(), "none.json")); code != 1 {
		t.Errorf("no such file: exit %d", code)
	}
}

const talkFile = "testdata/talk.json"

func TestLocomo(t *testing.T) {
	code, stdout, stderr := bench(t, "locomo", "--data", talkFile, "--k", "1,5", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if n := strings.Count(stdout, "\n"); n != 1 {
		t.Errorf("%d lines, want one", n)
	}
	var r locomoResult
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Suite != "locomo" || r.Conversations != 1 || r.Questions != 5 {
		t.Errorf("suite %q, %d conversations, %d questions with evidence", r.Suite, r.Conversations, r.Questions)
	}
	for _, c := range append([]string{"all"}, categories[1:]...) {
		if r.Recall[c]["5"] != 100 {
			t.Errorf("%s: %v", c, r.Recall[c])
		}
	}
	if r.Recall["multi_hop"]["1"] > 50 {
		t.Errorf("one hit can't hold both pieces of evidence: %v", r.Recall["multi_hop"])
	}
	if r.Utterances["5"] != 100 || r.Memories["5"] <= 0 || r.Memories["5"] >= 100 || r.Kept <= 0 || r.Kept >= 100 {
		t.Errorf("utterances %v, memories %v, kept %v", r.Utterances, r.Memories, r.Kept)
	}
	if r.Tokens["1"] <= 0 || r.Tokens["5"] < r.Tokens["1"] || r.Within["2000"] != 100 || r.Latency["p99"] <= 0 {
		t.Errorf("tokens %v, within %v, latency %v", r.Tokens, r.Within, r.Latency)
	}
	if code, stdout, _ := bench(t, "locomo", "--data", talkFile, "--cache", cache); code != 0 || !strings.Contains(stdout, "multi_hop") {
		t.Errorf("table: exit %d\n%s", code, stdout)
	}
	if code, stdout, _ := bench(t, "locomo", "--data", talkFile, "--ablate", "--json"); code != 0 || !strings.Contains(stdout, `"case":"without_context"`) {
		t.Errorf("ablation: exit %d\n%s", code, stdout)
	}
}

func TestCleanEvidence(t *testing.T) {
	there := map[string]bool{"D1:3": true, "D11:26": true, "D30:5": true, "D8:6": true}
	got := cleanEvidence([]string{"D1:3; D8:6", "D:11:26", "D30:05", "D", "D99:1"}, there)
	if want := []string{"D11:26", "D1:3", "D30:5", "D8:6"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRecallSuite(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "growth.svg")
	code, stdout, stderr := bench(t, "recall", "--parts", "speed", "--sizes", "300,600", "--questions", "60", "--json", "--plot", plot)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var cases []string
	for line := range strings.Lines(stdout) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, r.Case)
		if r.Suite != "recall" || r.N != 600 || r.Value <= 0 || r.Unit == "" {
			t.Errorf("%s", line)
		}
		if r.Case == "recall_at_10_600" && r.Value < 90 {
			t.Errorf("recall@10 is %g", r.Value)
		}
		if strings.HasPrefix(r.Case, "hybrid_p99") && (r.Peer == "" || r.Ratio <= 0) {
			t.Errorf("no peer: %s", line)
		}
	}
	for _, c := range []string{"hybrid_p99_600", "hybrid_p50_600", "queries_per_s_600", "index_rss_idle", "index_rss_600", "cold_start_600", "index_bytes_600"} {
		if !slices.Contains(cases, c) {
			t.Errorf("%s is missing among %v", c, cases)
		}
	}
	svg, err := os.ReadFile(plot)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range finders {
		if !strings.Contains(string(svg), e+",600,") {
			t.Errorf("the plot has no data of %s", e)
		}
	}
}

func TestGeneratorIsSeeded(t *testing.T) {
	a, b, c := generate(1, 500, 50), generate(1, 500, 50), generate(2, 500, 50)
	if a.lines[7] != b.lines[7] || a.queries[7] != b.queries[7] {
		t.Error("one seed, two lives")
	}
	if a.queries[7] == c.queries[7] {
		t.Error("two seeds, one life")
	}
}

func TestRecallChinese(t *testing.T) {
	code, stdout, stderr := bench(t, "recall", "--parts", "chinese", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "recall", stdout)
	for _, c := range []string{"chinese_at_5", "chinese_at_10", "chinese_cross_language_at_5", "chinese_cross_language_at_10"} {
		if r := got[c]; r.Value <= 0 || r.Value > 100 || r.N == 0 {
			t.Errorf("%s: %+v", c, r)
		}
	}
	if got["chinese_at_10"].Peer != "bleve" {
		t.Errorf("no peer: %+v", got["chinese_at_10"])
	}
	if got["chinese_at_10"].Value < got["chinese_at_5"].Value || got["chinese_at_10"].N <= got["chinese_cross_language_at_10"].N {
		t.Errorf("%+v", got)
	}
}

func TestRecallNode(t *testing.T) {
	code, stdout, stderr := bench(t, "recall", "--parts", "node", "--lines", "300", "--seconds", "2", "--rest", "1ms", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "recall", stdout)
	for _, c := range []string{"rss_idle", "rss_300", "node_p50_300", "node_feed_300", "recall_p99_during_audio"} {
		if r := got[c]; r.Value <= 0 || r.N != 300 {
			t.Errorf("%s: %+v", c, r)
		}
	}
	if got["recall_p99_during_audio"].Peer != "quiet" {
		t.Errorf("no peer: %+v", got["recall_p99_during_audio"])
	}
}
