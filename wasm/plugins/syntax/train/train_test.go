package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/wasm/plugins/syntax"
	"github.com/locket-dev/locket/wasm/plugins/syntax/sample"
)

// TestSameBytes: the same treebank gives the same weights, and they read what
// they were learnt from.
func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile("../sample/en_ewt.conllu")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "en_ewt-train.conllu.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var made [2][]byte
	for i := range made {
		if err := english(dir, io.Discard, func(file []byte) error { made[i] = file; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("the same treebank gave other weights")
	}
	m, err := syntax.OpenModel(string(made[0]))
	if err != nil {
		t.Fatal(err)
	}
	list, err := sample.Load("en_ewt")
	if err != nil {
		t.Fatal(err)
	}
	if r := sample.Measure(syntax.NewReader("en", m), list); r.Words.UPOS() < 90 || r.Words.LAS() < 55 {
		t.Errorf("of what it was learnt from, it tells %.1f of the parts of speech and %.1f of the arcs", r.Words.UPOS(), r.Words.LAS())
	}
}
