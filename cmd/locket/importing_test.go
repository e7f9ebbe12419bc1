package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// Imports a notebook in a zip file of some KB whose pages together are larger than this machine's
// memory, although none of them is too large by itself.
func TestThreatZippedNotebook(t *testing.T) {
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	page := func(name string, b []byte) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	page("README.md", []byte("<!-- locket:header {\"version\":1} -->\n<!-- locket:end {\"records\":1} -->\n"))
	for day := range 12 {
		page(fmt.Sprintf("days/2026-09-%02d.md", day+1), bytes.Repeat([]byte("\n"), 8<<20))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "home")
	file := filepath.Join(t.TempDir(), "notebook.zip")
	if err := os.WriteFile(file, zipped.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d := testDeps()
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	var problems strings.Builder
	code := run(t.Context(), []string{"--home", home, "import", "--unsigned", file}, strings.NewReader(""), io.Discard, &problems, d)
	if code != cli.ExitFailed || !strings.Contains(problems.String(), "days/2026-09-08.md: this page makes the notebook larger") {
		t.Errorf("exit %d: %s", code, problems.String())
	}
}
