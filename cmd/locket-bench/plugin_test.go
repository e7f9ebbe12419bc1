package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestPluginSuite(t *testing.T) {
	t.Setenv("RUSTC", "no-such-compiler") // a missing toolchain is reported
	code, stdout, stderr := bench(t, "plugin", "--rounds", "1", "--lines", "20", "--guests", "c,go,rust", "--json", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "plugin", stdout)
	if r := got["error_rust"]; !strings.Contains(r.Note, "rustc is missing") || !strings.Contains(stderr, "rustc is missing") {
		t.Errorf("no Rust, and it says %+v, %q", r, stderr)
	}
	want := []string{"call_200B_go", "call_20KB_go", "call_200KB_go", "size_go", "compile_go", "instantiate_go", "memory_go", "guest_call_200B_go",
		"work_tokenise", "work_voice", "work_hash", "recover_after_deadline_go", "cached_start_go"}
	if _, err := exec.LookPath("clang"); err == nil {
		want = append(want, "raw_200B", "raw_20KB", "raw_200KB", "call_200B", "call_20KB", "call_200KB", "worker_200B", "worker_20KB", "worker_200KB",
			"recover_after_deadline", "cached_start_c")
		if _, ok := got["recall_p99_under_spin"]; !ok || got["gc_pause_under_spin"].N == 0 {
			t.Error("nothing was searched while a plugin spun")
		}
	} else {
		t.Logf("C is not measured: %v", err)
	}
	for _, c := range want {
		if r := got[c]; r.Value <= 0 || r.N == 0 {
			t.Errorf("%s: %+v", c, r)
		}
		if r := got[c]; strings.HasPrefix(c, "call_") != (r.Peer == "extism") && !strings.HasPrefix(c, "raw_") {
			t.Errorf("%s beside %q", c, r.Peer)
		}
	}
	if _, ok := got["fuel_go"]; !ok {
		t.Error("no cost of fuel")
	}
	for _, args := range [][]string{{"plugin", "--rounds", "0"}, {"plugin", "--guests", "cobol"}} {
		if code, _, stderr := bench(t, args...); code != 2 || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
