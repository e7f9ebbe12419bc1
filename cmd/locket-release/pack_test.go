package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Packages of every format have the same bytes, no matter when and where they are made.
func TestPackagesAreReproducible(t *testing.T) {
	made := func() (*making, error) {
		root := t.TempDir()
		r := &making{source: source{root: root, version: "v0.1.0", time: time.Unix(1800000000, 0).UTC()}, packs: packs, formats: formats, work: t.TempDir(), out: t.TempDir(), log: io.Discard}
		write(t, filepath.Join(root, "LICENSE"), "a license")
		write(t, r.starter("locket.service"), "a unit")
		for _, c := range targets[0].commands() {
			write(t, r.binary(targets[0], c), "the program "+c)
			write(t, filepath.Join(r.pages(c), c+".1"), "a page")
			for _, shell := range shells {
				write(t, r.completion(c, shell), "completions")
			}
		}
		return r, r.packages(targets[:1])
	}
	first, err := made()
	if err != nil {
		t.Fatal(err)
	}
	second, err := made()
	if err != nil || len(second.made) != len(packs)*len(formats) {
		t.Fatal(second.made, err)
	}
	for _, name := range first.made {
		a, err := os.ReadFile(filepath.Join(first.out, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second.out, name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not the same twice: %v", name, err)
		}
	}
}
