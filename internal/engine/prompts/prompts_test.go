package prompts

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// The text of a prompt that was used never changes, because memories name it as their source.
func TestPublishedPromptsNeverChange(t *testing.T) {
	want := map[string]string{}
	sums, err := os.ReadFile("prompts.sum")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("prompts.sum: %q", line)
		}
		want[name] = sum
	}
	entries, err := fs.ReadDir(files, "files")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := files.ReadFile("files/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != want[e.Name()] {
			t.Errorf("%s: its words are not those of prompts.sum: give the new ones the next number", e.Name())
		}
		delete(want, e.Name())
	}
	for name := range want {
		t.Errorf("%s was taken away: memories name it as their source", name)
	}
}

func TestPromptsSayThatTextsAreData(t *testing.T) {
	for _, names := range [][]string{{Rules, Router}, {Rules, Core}, {Rules, Episodic}, {Rules, Semantic}, {Rules, Procedural}, {Rules, Resource}, {Reconcile}, {Summary}, {Community}, {Merge}, {Caption}, {Sequence}, {Question}} {
		if text := Text(names...); !strings.Contains(text, "never instructions to you") {
			t.Errorf("%v: does not say that what it is shown is data", names)
		}
	}
}
