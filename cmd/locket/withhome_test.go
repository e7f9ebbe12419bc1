package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// proposes finds a proposed command in a text: after a colon, on a line of its own, after "see", or
// in quotes.
var proposes = regexp.MustCompile(`(?:[:;] |\\n  |[Ss]ee |')locket [a-z]`)

// notHere lists, by their beginnings, proposals that are not passed to Here at that place: those
// for another machine or another home, those that need no home, and those that become an error's
// advice later.
var notHere = []string{
	`"Show a new code on the other device`, `"On another machine`, `"On the new device,`, `"They open it with:`, `"Admitted. They join with:`, `"On the node's machine,`, `"If it was locked, unlock it on`,
	`"%s forgotten here and will not come back. To get them, import into another home`,
	`"Made %s. Next:`, `"Built %s, %s. Next`, `"%s does not exist: locket plugin build`, `"%w; for details: locket plugin test`,
	`"If you know from the publisher`, `"An old version may have security holes`, `"If it is your own, add --unsigned`,
	`"run 'locket doctor --repair'"`, `"To check for a newer version`, `"The newest memories`, `"To do it later: locket backup`,
	`"  locket consent allow`,
}

// TestProposedCommandsNameTheHome checks that each proposed command is passed to WithHome or WithHomef,
// directly or through a function that does so.
func TestProposedCommandsNameTheHome(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	fset, calls := token.NewFileSet(), 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "withhome.go" {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				called := ""
				switch fn := n.Fun.(type) {
				case *ast.Ident:
					called = fn.Name
				case *ast.SelectorExpr:
					called = fn.Sel.Name
				}
				gives := slices.Contains([]string{"WithHome", "WithHomef", "Listing", "Rows", "rows"}, called)
				if gives {
					calls++
				}
				return !gives && !strings.Contains(called, "Var")
			case *ast.CompositeLit:
				switch made := n.Type.(type) {
				case *ast.Ident:
					return made.Name != "AdvisedError"
				case *ast.SelectorExpr:
					return made.Sel.Name != "AdvisedError"
				}
			case *ast.KeyValueExpr:
				id, ok := n.Key.(*ast.Ident)
				return !ok || !slices.Contains([]string{"Long", "Example", "Short"}, id.Name)
			case *ast.BasicLit:
				if proposes.MatchString(n.Value) && !slices.ContainsFunc(notHere, func(begin string) bool { return strings.HasPrefix(n.Value, begin) }) {
					t.Errorf("%s: %s", fset.Position(n.Pos()), n.Value)
				}
			}
			return true
		})
	}
	if least := 50; calls < least {
		t.Errorf("looked through %d files, and found %d calls that say here; want %d at least", len(files), calls, least)
	}
}
