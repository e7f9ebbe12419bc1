package recall

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWeightChangesAreRecorded: whoever changes a weight, a number that is declared as a constant
// in the code, the lexicon or the pairs of words has to
// measure the change on conversations that had no part in the choice, and add a line to
// testdata/left-out.txt, which says how.
func TestWeightChangesAreRecorded(t *testing.T) {
	b, err := os.ReadFile("testdata/left-out.txt")
	if err != nil {
		t.Fatal(err)
	}
	last, lines := "", 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 6 {
			t.Fatalf("%q: want a fingerprint, a day, recall at 5, 10 and 25, and what changed", line)
		}
		for _, v := range f[2:5] {
			if n, err := strconv.ParseFloat(v, 64); err != nil || n <= 0 || n > 100 {
				t.Fatalf("%q: %s is no recall in per cent", line, v)
			}
		}
		last, lines = f[0], lines+1
	}
	lexicon, pairs := wordFiles(t)
	constants := constantsIn(t, rankingFiles(t)...)
	if now := fingerprint(t, DefaultWeights(), lexicon, pairs, constants); last != now {
		t.Errorf("the weights or the lexicon are %s, and the last that were measured %s: add a line to testdata/left-out.txt", now, last)
	}
	if lines < 2 {
		t.Errorf("%d lines: what it was before is missing", lines)
	}
	seen := []string{fingerprint(t, DefaultWeights(), lexicon, pairs, constants), fingerprint(t, handWeights(), lexicon, pairs, constants),
		fingerprint(t, DefaultWeights(), lexicon+" ", pairs, constants), fingerprint(t, DefaultWeights(), lexicon, pairs+" ", constants),
		fingerprint(t, DefaultWeights(), lexicon, pairs, strings.Replace(constants, "weightCharacter = .3\n", "weightCharacter = .4\n", 1))}
	if slices.Sort(seen); len(slices.Compact(seen)) != 5 {
		t.Errorf("a change is not seen: %v", seen)
	}
	for _, name := range []string{"contextLength", "shareOther", "worthTime", "agreeKeeps", "poolBase", "Unsure", "minorScore", "longLine"} {
		if !strings.Contains(constants, "\n"+name+" = ") {
			t.Errorf("the constant %s is not among those found", name)
		}
	}
}

// rankingFiles are the files of this package whose constants can change a result. The others are
// about how segments are stored.
func rankingFiles(t *testing.T) (names []string) {
	t.Helper()
	all, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	stored := []string{"segment.go", "flush.go", "segmentwords.go", "deflated.go", "index.go"}
	return slices.DeleteFunc(all, func(name string) bool {
		return strings.HasSuffix(name, "_test.go") || slices.Contains(stored, name)
	})
}

// constantsIn returns the constants that are declared in files with a number, one a line, sorted by
// name.
func constantsIn(t *testing.T, files ...string) string {
	t.Helper()
	var lines []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.CONST {
				return true
			}
			for _, spec := range d.Specs {
				s := spec.(*ast.ValueSpec)
				for i, v := range s.Values {
					number := false
					ast.Inspect(v, func(n ast.Node) bool {
						l, ok := n.(*ast.BasicLit)
						number = number || ok && (l.Kind == token.INT || l.Kind == token.FLOAT)
						return true
					})
					if !number {
						continue
					}
					var b strings.Builder
					if err := printer.Fprint(&b, token.NewFileSet(), v); err != nil {
						t.Fatal(err)
					}
					lines = append(lines, s.Names[i].Name+" = "+strings.Join(strings.Fields(b.String()), "")+"\n")
				}
			}
			return true
		})
	}
	slices.Sort(lines)
	return "\n" + strings.Join(lines, "")
}

// fingerprint stays the same as long as no weight and no word changes.
func fingerprint(t *testing.T, w Weights, files ...string) string {
	t.Helper()
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(string(b) + "\x00" + strings.Join(files, "\x00")))
	return hex.EncodeToString(sum[:6])
}
