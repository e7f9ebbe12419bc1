package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"aead.dev/minisign"
)

// fill executes one of the embedded templates with the values in of.
func fill(w io.Writer, name string, of any) error {
	text, err := carried.ReadFile("files/" + name)
	if err != nil {
		return err
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return err
	}
	return t.Execute(w, of)
}

// formula writes the Homebrew formula if all the archives that it names exist.
func (r *making) formula(chosen []target) error {
	type archive struct{ URL, SHA256 string }
	of := map[string]any{"Version": r.number()}
	for name, t := range map[string]target{"MacARM": {"darwin", "arm64", ""}, "MacIntel": {"darwin", "amd64", ""}, "LinuxARM": {"linux", "arm64", ""}, "LinuxIntel": {"linux", "amd64", ""}} {
		if !slices.Contains(chosen, t) {
			fmt.Fprintf(r.log, "  none: there is no %s\n", t)
			return nil
		}
		sum, err := sha256File(filepath.Join(r.out, r.archiveName(t)))
		if err != nil {
			return err
		}
		of[name] = archive{"https://github.com/locket-dev/locket/releases/download/" + r.version + "/" + r.archiveName(t), sum}
	}
	return r.file("locket.rb", func(w io.Writer) error { return fill(w, "locket.rb", of) })
}

// papers writes the install script, which contains this version and the key, and the release notes.
func (r *making) papers() error {
	key, err := minisign.PublicKeyFromFile(filepath.Join(r.root, publicKey))
	if err != nil {
		return fmt.Errorf("%s: %w", publicKey, err)
	}
	err = r.file("install.sh", func(w io.Writer) error {
		return fill(w, "install.sh", map[string]string{"Version": r.number(), "Key": key.String()})
	})
	if err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	notes, err := notesOf(log, r.number())
	if err != nil {
		return fmt.Errorf("CHANGELOG.md: %w", err)
	}
	return r.file("NOTES.md", func(w io.Writer) error {
		return fill(w, "notes.md", map[string]string{"Version": r.number(), "Tag": r.version, "Summary": notes, "Key": key.String()})
	})
}

// notesOf returns the summary at the beginning of a version's part of the changelog. If the version
// has none, it returns that of the unreleased part. Its links point to the files of the version's
// tag, because it is read outside of the repository.
func notesOf(log []byte, number string) (string, error) {
	_, part, ok := bytes.Cut(log, []byte("\n## "+number+" ("))
	if !ok {
		_, part, ok = bytes.Cut(log, []byte("\n## Unreleased\n"))
	}
	if !ok {
		return "", fmt.Errorf("the changelog has a part neither for %s nor for unreleased changes", number)
	}
	part, _, _ = bytes.Cut(part, []byte("\n## "))
	_, summary, ok := bytes.Cut(part, []byte("\n### In two minutes\n"))
	if !ok {
		return "", errors.New(`the part has no "In two minutes"`)
	}
	summary, _, _ = bytes.Cut(summary, []byte("\n### "))
	links := strings.ReplaceAll(string(summary), "](docs/", "](https://github.com/locket-dev/locket/blob/v"+number+"/docs/")
	return strings.TrimSpace(links), nil
}
