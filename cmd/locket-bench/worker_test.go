package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWorkerSuite(t *testing.T) {
	code, stdout, stderr := bench(t, "worker", "--json", "--pages", "2", "--revocations", "2", "--cache", cache)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	got := readResults(t, "worker", stdout)
	if r := got["wer_pocketsphinx_en_us"]; r.N != 22 || r.Unit != "%" || r.Value <= 0 || r.Value > 40 || !strings.Contains(r.Note, "no Chinese") {
		t.Errorf("%+v", r)
	}
	if r := got["print_wer_tesseract"]; r.N != 25 || r.Value > 20 {
		t.Errorf("%+v", r)
	}
	if r := got["stored_per_frame"]; r.N != 6 || r.Unit != "B" || r.Value <= 0 || !strings.Contains(r.Note, "MIRIX") {
		t.Errorf("%+v", r)
	}
	if r := got["revoke_p99"]; r.N != 2 || r.Unit != "ms" || r.Value <= 0 || r.Value < got["revoke_p50"].Value {
		t.Errorf("%+v", r)
	}
	dir := t.TempDir()
	if code, _, stderr := bench(t, "worker", dir); code != 1 || !strings.Contains(stderr, "whose words are known") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "x.wav"), []byte("no sound"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := bench(t, "worker", dir); code != 1 || !strings.Contains(stderr, "whose words are known") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, _ := bench(t, "worker", "a", "b"); code != 2 {
		t.Errorf("exit %d", code)
	}
}
