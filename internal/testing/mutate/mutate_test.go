package mutate

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	all  = flag.Bool("all", false, "take every guard out, and run the tests that must miss it")
	only = flag.String("only", "", "with -all: of packages and names that contain this")
	past = flag.Int("past", 0, "with -all: so many of them were done by a run that was stopped")
)

const root = "../../.."

func load(t *testing.T) []Mutation {
	t.Helper()
	ms, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

// Every mutation still matches its code, and no two of a package have the same name. The long form
// is in docs/proof.md.
func TestGuards(t *testing.T) {
	ms := load(t)
	covered := map[string]int{}
	names := map[string]bool{}
	for _, m := range ms {
		covered[m.Package]++
		if name := m.Package + ": " + m.Name; names[name] {
			t.Errorf("%s: twice", name)
		} else {
			names[name] = true
		}
		source, err := os.ReadFile(filepath.Join(root, m.Package, m.File))
		if err == nil {
			_, err = m.Apply(string(source))
		}
		if err != nil {
			t.Error(err)
		}
		if !hasTest(t, m) {
			t.Errorf("%s: %s: no test matches %s in %s", m.Package, m.Name, m.Tests, m.Of)
		}
	}
	for _, p := range []string{"sync/delta", "sync/envelope", "sync/replica", "sync/peer", "memory/reconcile", "sync/journal", "crypto/seal", "crypto/keyring", "crypto/publisher",
		"memory/store", "cloud/api", "cloud/relay", "node/serve"} {
		if covered[p] == 0 {
			t.Errorf("%s: no guard of it is on a list", p)
		}
	}
	if !*all {
		return
	}
	scratch, where := t.TempDir(), abs(t)
	start, missed := time.Now(), 0
	ms = slices.DeleteFunc(ms, func(m Mutation) bool { return !strings.Contains(m.Package+": "+m.Name, *only) })
	for _, m := range ms[min(*past, len(ms)):] {
		if err := m.Run(t.Context(), where, scratch); err != nil {
			t.Error(err)
			continue
		}
		missed++
		t.Logf("%s: %s", m.Package, m.Name)
	}
	t.Logf("%d guards were missed in %s", missed, time.Since(start).Round(time.Second))
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// hasTest reports whether any test's name matches the pattern of a mutation.
func hasTest(t *testing.T, m Mutation) bool {
	t.Helper()
	pattern, _, _ := strings.Cut(m.Tests, "/") // the rest is for subtests
	named, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	files, err := filepath.Glob(filepath.Join(root, m.Of, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(testFunc.FindAllSubmatch(source, -1), func(f [][]byte) bool { return named.Match(f[1]) }) {
			return true
		}
	}
	return false
}

func abs(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Removing a guard is detected; a change without effect survives, and one that does not build is
// neither.
func TestRun(t *testing.T) {
	m := Mutation{Name: "the only guard", Package: "internal/testing/mutate/testdata/guarded", File: "guarded.go", Of: "internal/testing/mutate/testdata/guarded", Tests: "TestSmall",
		Old: "if n > 9 {", New: "if n > 99 {"}
	where, scratch := abs(t), t.TempDir()
	if err := m.Run(t.Context(), where, scratch); err != nil {
		t.Error(err)
	}
	m.New = "if n >= 10 {"
	if err := m.Run(t.Context(), where, scratch); !errors.Is(err, ErrSurvived) {
		t.Error(err)
	}
	m.New = "if n {"
	if err := m.Run(t.Context(), where, scratch); err == nil || !strings.Contains(err.Error(), "did not run") {
		t.Error(err)
	}
	m.Tests = "TestNone"
	m.New = "if n > 99 {"
	if err := m.Run(t.Context(), where, scratch); err == nil || !strings.Contains(err.Error(), "no test matches") {
		t.Error(err)
	}
}

func TestApply(t *testing.T) {
	ms, err := Parse("p", "== one\na.go TestA\n if x {\n-\treturn false\n+\treturn true\n\n== two\na.go TestB q\n-y\n")
	if err != nil || len(ms) != 2 {
		t.Fatal(ms, err)
	}
	if m := ms[0]; m.Name != "one" || m.Of != "p" || m.Old != "if x {\n\treturn false\n" || m.New != "if x {\n\treturn true\n" {
		t.Errorf("%+v", m)
	}
	if m := ms[1]; m.Of != "q" || m.Old != "y\n" || m.New != "" {
		t.Errorf("%+v", m)
	}
	if got, err := ms[1].Apply("x\ny\nz\n"); err != nil || got != "x\nz\n" {
		t.Errorf("%q, %v", got, err)
	}
	for _, source := range []string{"x\n", "y\ny\n"} {
		if _, err := ms[1].Apply(source); err == nil {
			t.Errorf("%q: applied", source)
		}
	}
	for _, bad := range []string{"x", "== a\nf", "== a\nf T p more", "== a\nf T\nx", "== a\nf T\n x", "== a\nf T\n-x\n+x"} {
		if _, err := Parse("p", bad); err == nil {
			t.Errorf("%q: taken", bad)
		}
	}
}
