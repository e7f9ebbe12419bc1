package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shownBy = regexp.MustCompile("`([a-z0-9/-]+)` `(Test[A-Za-z0-9]+)`")

// Each row of the table at the end of docs/proof.md names a test, and every named test exists.
func TestProofNamesTests(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(root, "docs", "proof.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(doc), "| promise | shown by |\n| --- | --- |\n")
	if !ok {
		t.Fatal("docs/proof.md has no table of promises and tests")
	}
	rows := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		rows++
		named := shownBy.FindAllStringSubmatch(line, -1)
		if len(named) == 0 || strings.Count(line, "`Test") != len(named) {
			t.Errorf("%d tests are named as they should: %s", len(named), line)
		}
		for _, m := range named {
			if !strings.Contains(testsOf(t, filepath.Join(root, m[1])), "func "+m[2]+"(t *testing.T)") {
				t.Errorf("%s has no %s", m[1], m[2])
			}
		}
	}
	if rows < 30 {
		t.Errorf("the table has %d rows", rows)
	}
}
