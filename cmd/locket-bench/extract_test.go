package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket-bench/labelled"
	"github.com/locket-dev/locket/memory"
)

// readResults decodes what a suite printed, by case.
func readResults(t *testing.T, suite, stdout string) map[string]result {
	t.Helper()
	out := map[string]result{}
	for line := range strings.Lines(stdout) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Suite != suite || r.Case == "" || r.Unit == "" {
			t.Errorf("%s", line)
		}
		if _, twice := out[r.Case]; twice {
			t.Errorf("case %s twice", r.Case)
		}
		out[r.Case] = r
	}
	return out
}

func TestExtractSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "extract", "--scenes", "4", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "extract", stdout)
	for _, c := range []string{"precision", "recall", "f1", "recall_en", "recall_plan", "false_on_empty_lines", "kept_lines", "missed_by_nothing", "line_f1", "line_ms"} {
		if r, ok := got[c]; !ok || r.N == 0 {
			t.Errorf("%s: %+v", c, r)
		}
	}
	if r := got["recall"]; r.Value <= 0 || r.Value > 100 {
		t.Errorf("recall %g: nothing was kept of four conversations", r.Value)
	}
	if r := got["line_f1"]; r.Peer != "length" {
		t.Errorf("no control by length: %+v", r)
	}
	if code, stdout, _ := bench(t, "extract", "--scenes", "1", "--explain", "--cache", cache); code != 0 || !strings.Contains(stdout, "dentist") {
		t.Errorf("explain: exit %d\n%s", code, stdout)
	}
}

func TestExtractResults(t *testing.T) {
	a := &labelled.Line{Lang: "en", Expect: []labelled.Label{{Kinds: []labelled.Kind{"plan", "promise"}}, {Kinds: []labelled.Kind{"plan"}}, {Kinds: []labelled.Kind{"event"}, Optional: true}}}
	b := &labelled.Line{Lang: "zh", None: "question"}
	m := memory.Memory{Candidate: memory.Candidate{Type: memory.Episodic}}
	rated := []ratedLine{
		{labelled.Score{Line: a, Found: []int{0, -1, -1}, Near: []labelled.Fault{"", labelled.BadDate, labelled.NothingMade}, Verdicts: []labelled.Verdict{labelled.Right, labelled.Duplicate, labelled.Uncounted}}, []memory.Memory{m, m, m}},
		{labelled.Score{Line: b, Verdicts: []labelled.Verdict{labelled.False}}, []memory.Memory{m}},
	}
	want := map[string]float64{"precision": 33.33, "recall": 50, "f1": 40, "precision_zh": 0, "recall_en": 50, "recall_plan": 50, "recall_promise": 100,
		"precision_episodic": 33.33, "false_on_empty_lines": 100, "duplicates": 1, "kept_lines": 100, "missed_by_date": 1, "missed_by_nothing": 0}
	for _, r := range extractResults(rated) {
		if v, ok := want[r.Case]; ok && v != r.Value {
			t.Errorf("%s is %g, want %g", r.Case, r.Value, v)
		}
		delete(want, r.Case)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// The control picks as many lines as gave memories, namely the longest ones.
func TestByLength(t *testing.T) {
	line := func(text, none string, made int) ratedLine {
		return ratedLine{labelled.Score{Line: &labelled.Line{Text: text, None: none}}, make([]memory.Memory, made)}
	}
	got := byLength([]ratedLine{line("a long line that holds nothing at all", "small_talk", 0), line("my key is here", "", 1), line("我在上海", "", 0), line("ok", "filler", 1)})
	want := []struct {
		name        string
		value, peer float64
	}{{"line_precision", 50, 50}, {"line_recall", 50, 50}, {"line_f1", 50, 50}}
	for i, w := range want {
		if r := got[i]; r.Case != w.name || r.Value != w.value || r.PeerValue != w.peer {
			t.Errorf("%+v, want %+v", r, w)
		}
	}
}

// Counts the turns of a conversation with evidence, and those from which a memory was made.
func TestExtractTurns(t *testing.T) {
	code, stdout, stderr := bench(t, "extract", "--locomo", talkFile, "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "extract", stdout)
	for _, c := range []string{"turn_precision", "turn_recall", "turn_f1"} {
		if r := got[c]; r.N == 0 || r.Value < 0 || r.Value > 100 || r.Unit != "%" {
			t.Errorf("%s: %+v", c, r)
		}
	}
	if n := got["turn_recall"].N; n < 5 || n > 12 {
		t.Errorf("%d turns hold evidence", n)
	}
	if code, _, _ := bench(t, "extract", "--locomo", "nowhere.json"); code != 1 {
		t.Errorf("exit %d", code)
	}
}
