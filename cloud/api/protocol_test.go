package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/api"
)

// rows returns the cells of the first table below a heading of protocol.md.
func rows(t *testing.T, heading string) (out [][]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(b), "\n"+heading+"\n")
	for line := range strings.Lines(after) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || len(out) > 0 && !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "|") {
			out = append(out, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	if len(out) < 4 {
		t.Fatalf("no table below %q", heading)
	}
	return out[2:]
}

var quoted = regexp.MustCompile("`([^`]*)`")

// A relay serves exactly the routes that protocol.md lists.
func TestRoutesAreDocumented(t *testing.T) {
	listed := map[string]bool{}
	for _, row := range rows(t, "## Requests") {
		var methods []string
		for _, m := range quoted.FindAllStringSubmatch(row[0], -1) {
			method, path, ok := strings.Cut(m[1], " ")
			if methods = append(methods, method); !ok {
				continue
			}
			path, _, _ = strings.Cut(path, "?")
			path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(strings.ReplaceAll(path, "{space}", ":space"), ":id")
			for _, method := range methods {
				listed[method+" "+path] = true
			}
			methods = nil
		}
		if methods != nil {
			t.Errorf("a method without a path: %q", row[0])
		}
	}
	served := map[string]bool{}
	for _, r := range api.Routes() {
		served[r] = true
	}
	if !maps.Equal(listed, served) {
		t.Errorf("listed %q\nserved %q", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(served)))
	}
}

// The kinds of problems are exactly those in protocol.md, each with its status.
func TestProblemsAreDocumented(t *testing.T) {
	listed := map[string]int{}
	for _, row := range rows(t, "### Problems") {
		status, err := strconv.Atoi(row[0])
		kind := quoted.FindStringSubmatch(row[1])
		if err != nil || kind == nil || listed[kind[1]] != 0 || len(row) != 3 || len(row[2]) < 5 {
			t.Errorf("a row is not status, kind and reason, or a kind stands twice: %q", row)
			continue
		}
		listed[kind[1]] = status
	}
	if answered := api.Problems(); !maps.Equal(listed, answered) {
		t.Errorf("listed %v\nanswered %v", listed, answered)
	}
	var named []string
	for kind := range kindsOfPage(t) {
		named = append(named, kind)
	}
	slices.Sort(named)
	if have := slices.Sorted(maps.Keys(listed)); !slices.Equal(have, named) {
		t.Errorf("listed %q\nnamed %q", have, named)
	}
}

// kindsOfPage returns the constants of type page.Kind.
func kindsOfPage(t *testing.T) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "sync", "remote", "page", "page.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Kind" {
			return true
		}
		for _, v := range spec.Values {
			text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out[text] = true
		}
		return true
	})
	return out
}
