package wasm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/wasm.md has every word that a manifest may contain, every function that a module may import,
// and the host's own numbers.
func TestSpec(t *testing.T) {
	b, err := os.ReadFile("../docs/wasm.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	_, manifest, _ := strings.Cut(text, "\n## Manifest\n")
	manifest, _, _ = strings.Cut(manifest, "\n## ")
	for _, c := range Capabilities() {
		if !strings.Contains(manifest, "`"+string(c)+"`") {
			t.Errorf("the manifest's table lacks the capability %s", c)
		}
	}
	for _, k := range Kinds() {
		if !strings.Contains(text, k) {
			t.Errorf("the page lacks the kind %s", k)
		}
	}
	for name, f := range hostFunctions {
		row := ""
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "| `locket."+name+"(") {
				row = line
			}
		}
		if !strings.Contains(row, "`"+string(f.grant)+"`") {
			t.Errorf("import %s: the page has %q", name, row)
		}
	}
	for _, c := range threats() {
		if !strings.Contains(text, "\n| "+c.name+" | ") {
			t.Errorf("the page lacks the threat %q", c.name)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("| faults in a row before it is disabled | %d | |", defaultMaxFaults),
		fmt.Sprintf("the last %d", keptLines),
		"after 10,000 calls",
		fmt.Sprintf("limits are %d\ntimes as long", interpreterScale),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if maxCalls != 10_000 || !slices.Contains(candidateTypes, "vault") {
		t.Error("the limits and types in this test differ from those of the package: bring it up to date")
	}
}
