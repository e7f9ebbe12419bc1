package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`([a-z0-9/-]+)` `(TestThreat[A-Za-z0-9]+)(?:/([a-z ]+))?`")
	aTest     = regexp.MustCompile(`(?m)^func (TestThreat[A-Za-z0-9]+)\(t \*testing\.T\)`)
)

// Every test that docs/threats.md names exists, each row has one, and every test with such a name
// is listed.
func TestThreatsAreTests(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(root, "docs", "threats.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| threat ") {
			continue
		}
		m := namedTest.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("no test is named: %s", line)
			continue
		}
		pkg, name, part := m[1], m[2], m[3]
		listed[pkg+" "+name] = true
		if source := testsOf(t, filepath.Join(root, pkg)); !strings.Contains(source, "func "+name+"(t *testing.T)") {
			t.Errorf("%s has no %s", pkg, name)
		} else if part != "" && !strings.Contains(source, `"`+part+`"`) {
			t.Errorf("%s has no part %q of %s", pkg, part, name)
		}
	}
	if len(listed) < 13 {
		t.Fatalf("the table names %d tests", len(listed))
	}
	for _, p := range load(t) {
		for _, m := range aTest.FindAllStringSubmatch(testsOf(t, filepath.Join(root, p.ImportPath)), -1) {
			if !listed[p.ImportPath+" "+m[1]] && m[1] != "TestThreatsAreTests" {
				t.Errorf("docs/threats.md does not name %s of %s", m[1], p.ImportPath)
			}
		}
	}
}

// testsOf returns the text of a folder's tests.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
