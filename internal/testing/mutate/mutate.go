// Package mutate removes guards from the code, one at a time, and demands that a test fails for
// each.
//
// The words:
//
//   - A guard is a check without which something forbidden would happen.
//   - A [Mutation] is the code without one guard: a text in a file that is replaced, and the tests
//     that must fail then.
//   - A mutation survives if no test fails: the guard is then untested.
//
// Mutations are stored beside the mutated code, in testdata/guards.txt of a package:
//
//	== a worker forgets nothing
//	accept.go TestAccept
//	 	case op.Forget != nil:
//	-		return Refused, "a worker forgets nothing"
//	+		return Accepted, ""
//
// After the name comes a line with the file, the pattern of the tests (go test -run) and, if they
// are another package's, its folder from the module's root. Then come lines of the text, as in a
// diff: unchanged, removed and added. The text must occur in its file exactly once, so that a list
// can't become outdated unnoticed.
package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Mutation is the code without one guard.
type Mutation struct {
	Name     string
	Package  string // folder from the module's root, with slashes
	File     string // file in it
	Tests    string // pattern of the tests
	Of       string // folder of the package with the tests
	Old, New string
}

// list is the file of a package's mutations.
const list = "testdata/guards.txt"

// Load reads the mutations of all packages under root, in the order of their folders.
func Load(root string) ([]Mutation, error) {
	var out []Mutation
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(filepath.ToSlash(path), "/"+list) {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(filepath.Dir(path)))
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		ms, err := Parse(filepath.ToSlash(dir), string(b))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, ms...)
		return nil
	})
	return out, err
}

// Parse parses the list of the package in a folder.
func Parse(dir, text string) ([]Mutation, error) {
	var out []Mutation
	var at *Mutation
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		bad := func(why string) error { return fmt.Errorf("line %d: %s", n+1, why) }
		if name, ok := strings.CutPrefix(line, "== "); ok {
			out = append(out, Mutation{Name: name, Package: dir})
			at = &out[len(out)-1]
			continue
		}
		switch {
		case at == nil:
			return nil, bad("a list begins with == and a name")
		case at.File == "":
			words := strings.Fields(line)
			if len(words) < 2 || len(words) > 3 {
				return nil, bad("want file, tests, and perhaps their folder")
			}
			at.File, at.Tests, at.Of = words[0], words[1], dir
			if len(words) == 3 {
				at.Of = words[2]
			}
		case line == "": // between two mutations
		case line[0] == ' ':
			at.Old, at.New = at.Old+line[1:]+"\n", at.New+line[1:]+"\n"
		case line[0] == '-':
			at.Old += line[1:] + "\n"
		case line[0] == '+':
			at.New += line[1:] + "\n"
		default:
			return nil, bad("want a line that begins with a space, - or +")
		}
	}
	for _, m := range out {
		if m.Old == "" || m.Old == m.New {
			return nil, fmt.Errorf("%s: it changes nothing", m.Name)
		}
	}
	return out, nil
}

// Apply returns the file without the guard. It fails if the text does not occur in it exactly once.
func (m *Mutation) Apply(source string) (string, error) {
	if n := strings.Count(source, m.Old); n != 1 {
		return "", fmt.Errorf("%s/%s: %s: the text stands there %d times, want once:\n%s", m.Package, m.File, m.Name, n, m.Old)
	}
	return strings.Replace(source, m.Old, m.New, 1), nil
}

// ErrSurvived: no test failed without the guard.
var ErrSurvived = errors.New("no test misses it")

// Run runs the tests without the guard, in the module at root; scratch is a folder for it. It
// returns ErrSurvived if they pass, and another error if they could not be run.
func (m *Mutation) Run(ctx context.Context, root, scratch string) error {
	path := filepath.Join(root, m.Package, m.File)
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	without, err := m.Apply(string(source))
	if err != nil {
		return err
	}
	file, overlay := filepath.Join(scratch, "mutated.go"), filepath.Join(scratch, "overlay.json")
	b, err := json.Marshal(map[string]map[string]string{"Replace": {path: file}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, []byte(without), 0o600), os.WriteFile(overlay, b, 0o600)); err != nil {
		return err
	}
	args := []string{"test", "-overlay", overlay, "-count=1", "-vet=off", "-run", m.Tests, "./" + m.Of}
	if drawn, err := drawsCases(filepath.Join(root, m.Of)); err != nil {
		return err
	} else if drawn { // otherwise it would store what failed, and fail with that ever after
		args = append(args, "-rapid.nofailfile")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil && strings.Contains(string(out), "[no tests to run]"):
		return fmt.Errorf("%s: no test matches %s in %s", m.Name, m.Tests, m.Of)
	case err == nil:
		return fmt.Errorf("%s: %s: %w", m.Package, m.Name, ErrSurvived)
	case !errors.As(err, &exit) || ctx.Err() != nil:
		return err
	case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "\npanic: "):
		return fmt.Errorf("%s: %s: the tests did not run:\n%s", m.Package, m.Name, out)
	}
	return nil
}

// drawsCases reports whether a package has property tests.
func drawsCases(dir string) (bool, error) {
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return false, err
	}
	for _, path := range tests {
		b, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		if strings.Contains(string(b), `"pgregory.net/rapid"`) {
			return true, nil
		}
	}
	return false, nil
}
