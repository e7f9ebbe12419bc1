package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A part that fails is reported, and the figures of the others are still printed, each as soon as
// it is known. The suite then ends with an error.
func TestEveningContinuesAfterAFailure(t *testing.T) {
	program := filepath.Join(t.TempDir(), "locket")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	repo := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module demo\n", "cmd/locket-demo/main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := bench(t, "evening", "--json", "--locket", program, "--parts", "empty,bytes,cold", "--cold", repo)
	var r result
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.Case != "cold_demo" || r.Value <= 0 {
		t.Errorf("%v: %s", err, stdout)
	}
	if code != 1 || !strings.Contains(stderr, "empty: ") || !strings.Contains(stderr, "bytes: ") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, args := range [][]string{{"--parts", "all"}, {"--parts", "first"}, {"--parts", "cold"}} {
		if code, _, stderr := bench(t, append([]string{"evening", "--locket", program}, args...)...); code != 2 || !strings.Contains(stderr, "part") {
			t.Errorf("%q: exit %d: %s", args, code, stderr)
		}
	}
}

// Figures are printed before the next part runs.
func TestEveningPrintsEachPartAtOnce(t *testing.T) {
	var told []string
	failed := errors.New("no such thing")
	b := eveningBench{stderr: t.Output(), tell: func(r ...result) error {
		told = append(told, r[0].Case)
		return nil
	}}
	err := b.parts(t.Context(), []part{
		{"one", func(context.Context) error { return b.tell(b.result("one", 1, 1, "s", "")) }},
		{"two", func(context.Context) error {
			if len(told) != 1 {
				t.Errorf("%q was told when the second part began", told)
			}
			return failed
		}},
		{"three", func(context.Context) error { return b.tell(b.result("three", 1, 1, "s", "")) }},
	})
	if !errors.Is(err, failed) || len(told) != 2 {
		t.Errorf("%v, %q", err, told)
	}
}
