package main

import (
	"os/exec"
	"strings"
	"testing"
)

// A few screens are drawn, read by a worker and found by their questions.
func TestScreensSuite(t *testing.T) {
	for _, program := range []string{"chromium", "tesseract"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program)
		}
	}
	code, stdout, stderr := bench(t, "screens", "--screens", "5", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "screens", stdout)
	if r := got["evidence_at_5_all"]; r.N != 5 || r.Value != 100 {
		t.Errorf("%+v: of five screens each is among five", r)
	}
	if r := got["answer_read"]; r.Value < 60 {
		t.Errorf("%+v", r)
	}
	if r := got["stored_of_pictures"]; r.Value <= 0 || r.Value > 20 {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{{"--screens", "4"}, {"--quality", "0"}, {"more"}} {
		if code, _, _ := bench(t, append([]string{"screens"}, args...)...); code != 2 {
			t.Errorf("%q: exit %d", args, code)
		}
	}
	if code, _, stderr := bench(t, "screens", "--chromium", "/nowhere/chromium"); code != 1 || !strings.Contains(stderr, "--chromium") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A question names a pair that is on only one screen of its kind, and the answer is on that screen.
func TestMakeScreens(t *testing.T) {
	all, asked := makeScreens(200, 1), map[string]bool{}
	for i, s := range all {
		if asked[s.question] {
			t.Errorf("%q is asked twice", s.question)
		}
		asked[s.question] = true
		if !strings.Contains(s.html, s.answer) || s.kind != screenKinds[i%len(screenKinds)] {
			t.Errorf("screen %d: %+v", i+1, s)
		}
	}
	if again := makeScreens(200, 1); again[17].html != all[17].html {
		t.Error("the same seed gives others")
	}
}
