package abi

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

func spec(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/wasm.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// keysIn reads the constants of a file that count up from the first one with a name beginning with
// prefix. It returns their numbers by name, in snake case and without the prefix.
func keysIn(t *testing.T, file, prefix string) map[string]int {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]int{}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST || !strings.HasPrefix(g.Specs[0].(*ast.ValueSpec).Names[0].Name, prefix) {
			continue
		}
		first := 0
		if _, plus := g.Specs[0].(*ast.ValueSpec).Values[0].(*ast.BinaryExpr); plus { // iota + 1
			first = 1
		}
		for i, s := range g.Specs {
			keys[snake(strings.TrimPrefix(s.(*ast.ValueSpec).Names[0].Name, prefix))] = first + i
		}
	}
	return keys
}

func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		upper := unicode.IsUpper(r)
		if upper && i > 0 && !unicode.IsUpper(rune(s[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// rows reads a table of the page: the keys in the first column, several separated by commas, and
// the names in the second.
func rows(t *testing.T, text, from, to string) map[string]int {
	t.Helper()
	_, part, ok := strings.Cut(text, from)
	part, _, ok2 := strings.Cut(part, to)
	if !ok || !ok2 {
		t.Fatalf("the page has nothing between %q and %q", from, to)
	}
	keys := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9, ]+) \| ([a-z_, ]+) \|`).FindAllStringSubmatch(part, -1) {
		numbers, names := strings.Split(m[1], ", "), strings.Split(m[2], ", ")
		for i := range numbers {
			n, err := strconv.Atoi(numbers[i])
			if err != nil || i >= len(names) {
				t.Fatalf("%q: %v", m[0], err)
			}
			keys[names[i]] = n
		}
	}
	return keys
}

// message reads a line of the table of messages: "1 type, 2 text, …".
func message(t *testing.T, text, name string) map[string]int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^\| ` + name + ` \| (.*) \|$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("the page has no message %s", name)
	}
	keys := map[string]int{}
	for _, f := range regexp.MustCompile(`\b([0-9]+) ([a-z_]+)`).FindAllStringSubmatch(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(m[1], ""), -1) {
		n, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		keys[f[2]] = n
	}
	return keys
}

// The page and the package have the same keys for the same fields.
func TestSpecKeys(t *testing.T) {
	text := spec(t)
	same := func(what string, page, code map[string]int) {
		t.Helper()
		if n, ok := code["version"]; ok {
			delete(code, "version")
			code["v"] = n
		}
		if !maps.Equal(page, code) {
			t.Errorf("%s: the page has %v, the package %v", what, page, code)
		}
	}
	same("event", rows(t, text, "### Event\n", "### Output\n"), keysIn(t, "event.go", "event"))
	same("output", rows(t, text, "### Output\n", "A span is"), keysIn(t, "output.go", "out"))
	same("candidate", message(t, text, "candidate"), keysIn(t, "candidate.go", "cand"))
	same("slot", message(t, text, "slot"), keysIn(t, "candidate.go", "slot"))
	same("entity", message(t, text, "entity"), keysIn(t, "candidate.go", "entity"))
	same("annotation", message(t, text, "annotation"), keysIn(t, "output.go", "annotation"))
	same("derived", message(t, text, "derived"), keysIn(t, "output.go", "derived"))
	same("refusal", message(t, text, "refusal"), keysIn(t, "output.go", "refusal"))
	same("redaction", message(t, text, "redaction"), keysIn(t, "output.go", "redaction"))
}

// Every error code has a row, and every row is that of a code.
func TestSpecCodes(t *testing.T) {
	_, part, _ := strings.Cut(spec(t), "## Error codes\n")
	part, _, _ = strings.Cut(part, "## Manifest\n")
	var page, code []int
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9]+) \| [a-zA-Z]`).FindAllStringSubmatch(part, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, n)
	}
	for c, word := range codeWords {
		if word != "" {
			code = append(code, c)
		}
	}
	if !slices.Equal(page, code) {
		t.Errorf("the page has the codes %v, the package %v", page, code)
	}
}

// The page has every limit with its value in the package.
func TestSpecLimits(t *testing.T) {
	text := spec(t)
	const kib, mib = 1 << 10, 1 << 20
	for _, want := range []string{
		fmt.Sprintf("| module | | %d MiB |", MaxModule/mib),
		fmt.Sprintf("| memory | %d MiB | %d MiB |", DefaultMemory/mib, MostMemory/mib),
		fmt.Sprintf("| input | | %d MiB |", MaxInput/mib),
		fmt.Sprintf("| output | %d KiB | %d KiB |", MaxOutput/kib, MaxOutput/kib),
		fmt.Sprintf("| fuel of a call | %d M | 2,%03d M |", DefaultFuel/1_000_000, MostFuel/1_000_000-2000),
		fmt.Sprintf("| fuel to start | %d M | %d M |", StartFuel/1_000_000, StartFuel/1_000_000),
		fmt.Sprintf("| time of a call | %d ms | %d s |", DefaultTime, MostTime/1000),
		fmt.Sprintf("| 8 | text | text | at most %d KiB |", MaxEventText/kib),
		fmt.Sprintf("at most %d levels", MaxDepth),
		fmt.Sprintf("| 1 | candidates | at most %d |", MaxCandidates),
		fmt.Sprintf("| 2 | redactions | at most %d;", MaxRedactions),
		fmt.Sprintf("| 3 | annotations | at most %d |", MaxAnnotations),
		fmt.Sprintf("| 4 | derived | at most %d;", MaxDerived),
		fmt.Sprintf("| 5 | refusals | at most %d |", MaxRefusals),
		fmt.Sprintf("| 6 | state | bytes, at most %d KiB;", MaxState/kib),
		fmt.Sprintf("spans (≤ %d), 13 entities (≤ %d), 14 tags (≤ %d)", MaxSpans, MaxEntities, MaxTags),
		fmt.Sprintf("steps (≤ %d)", MaxSteps),
		fmt.Sprintf("take at most %d KiB, every other string %d bytes", MaxText/kib, MaxName),
		fmt.Sprintf("at most %d KiB in all |", MaxError/kib),
		fmt.Sprintf("accuracy in m; at most %d |", MaxValues),
		fmt.Sprintf("oldest first, at most %d;", MaxBefore),
		fmt.Sprintf("cut at %d bytes, %d a call", MaxLogLine, MaxLogLines),
		fmt.Sprintf("the version of the contract: %d |", Version),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
