package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLicences reads the licence of each module that our packages need: there must be one, of a
// kind that allows a binary to be redistributed.
func TestLicences(t *testing.T) {
	var out []byte
	for _, dir := range modules(t) {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./...")
		cmd.Dir = filepath.Join(root, dir)
		b, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b...)
	}
	kinds := map[string]*regexp.Regexp{
		"Apache-2.0": regexp.MustCompile(`Apache License,?\s+Version 2\.0`),
		"MIT":        regexp.MustCompile(`Permission is hereby granted, free of charge`),
		"BSD":        regexp.MustCompile(`Redistributions? (and use|of source code)`),
		"MPL-2.0":    regexp.MustCompile(`Mozilla Public License,?( Version|,? v\.) ?2\.0`),
		"EPL-2.0":    regexp.MustCompile(`Eclipse Public License - v 2\.0`), // paho's, which is also under the BSD-like EDL
		"Unlicense":  regexp.MustCompile(`This is free and unencumbered software released into the public domain`),
		"ISC":        regexp.MustCompile(`Permission to use, copy, modify, and(/or)? distribute`),
	}
	not := regexp.MustCompile(`(?i)GNU (AFFERO |LESSER )?GENERAL PUBLIC LICENSE`)
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	modules = slices.Compact(modules)
	if len(modules) < 20 {
		t.Fatalf("%d modules", len(modules))
	}
	for _, m := range modules {
		path, dir, _ := strings.Cut(m, "\t")
		if path == "" {
			continue
		}
		var text []byte
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range files {
			if name := strings.ToUpper(filepath.Base(f)); strings.HasPrefix(name, "LICEN") || strings.HasPrefix(name, "COPYING") || strings.HasPrefix(name, "UNLICENSE") {
				b, err := os.ReadFile(f) // a folder with others' licences is not a licence of its own
				if err == nil {
					text = append(text, b...)
				}
			}
		}
		var is []string
		for kind, re := range kinds {
			if re.Match(text) {
				is = append(is, kind)
			}
		}
		if len(is) == 0 || not.Match(text) && !slices.Contains(is, "MPL-2.0") && !slices.Contains(is, "EPL-2.0") { // these name the GPL as a secondary licence
			t.Errorf("%s: its licence (%d bytes) is of no kind that may be in a binary: %v", path, len(text), is)
		}
	}
}
