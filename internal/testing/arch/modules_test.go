package arch

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the path of the repository from this package.
const root = "../../.."

// withoutCode is a module that only names third-party programs, with their versions.
const withoutCode = "internal/testing/testservers/programs"

// patched is a copy of a module with one change (docs/decisions.md, "Why is a copy of Ristretto in
// the tree?").
const patched = "internal/patched/ristretto"

// modules returns the folders of the modules with our code, the root's first, as ".ci/modules"
// prints them for the scripts there.
func modules(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("sh", filepath.Join(root, ".ci", "modules")).Output()
	if err != nil {
		t.Fatalf(".ci/modules: %v", err)
	}
	return strings.Fields(string(out))
}

// A module that .ci/modules does not name would be neither vetted nor tested.
func TestEveryModuleIsNamed(t *testing.T) {
	var found []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git" || e.Name() == ".cache") {
			return fs.SkipDir
		}
		if e.Name() == "go.mod" {
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := append(modules(t), withoutCode, patched)
	slices.Sort(named)
	slices.Sort(found)
	if !slices.Equal(named, found) {
		t.Errorf("go.mod lies in %q, but .ci/modules and this test name %q", found, named)
	}
}

// What is measured is what ships: a module that depends on the root requires the same versions as
// the root. This also compiles each dependency once. The module that makes releases imports none of
// our packages.
func TestModulesAgreeOnVersions(t *testing.T) {
	require := func(dir string) map[string]string {
		cmd := exec.Command("go", "mod", "edit", "-json")
		cmd.Dir = filepath.Join(root, dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go mod edit in %s: %v", dir, err)
		}
		var mod struct {
			Go      string
			Require []struct{ Path, Version string }
		}
		if err := json.Unmarshal(out, &mod); err != nil {
			t.Fatal(err)
		}
		versions := map[string]string{"go": mod.Go}
		for _, r := range mod.Require {
			versions[r.Path] = r.Version
		}
		return versions
	}
	ours := require(".")
	for _, dir := range modules(t)[1:] {
		versions := require(dir)
		if _, built := versions[strings.TrimSuffix(module, "/")]; !built {
			continue
		}
		for path, version := range versions {
			if want, shared := ours[path]; shared && version != want {
				t.Errorf("%s requires %s %s, and the root %s", dir, path, version, want)
			}
		}
	}
}

// The copy of Ristretto differs from the version that go.mod requires in one line. Files that no
// build of ours needs are not copied.
func TestPatchedModule(t *testing.T) {
	cmd := exec.Command("go", "mod", "download", "-json", "github.com/dgraph-io/ristretto/v2")
	cmd.Dir = filepath.Join(root, "cmd", "locket-bench") // where the module is not replaced
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var upstream struct{ Dir string }
	if err := json.Unmarshal(out, &upstream); err != nil {
		t.Fatal(err)
	}
	copied, theirs, ours := 0, "uint64((bufIdx+1)<<32)", "uint64(bufIdx+1)<<32"
	err = filepath.WalkDir(filepath.Join(root, patched), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(filepath.Join(root, patched), path)
		if err != nil {
			return err
		}
		got, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(filepath.Join(upstream.Dir, name))
		if name == filepath.Join("z", "allocator.go") {
			if bytes.Count(want, []byte(theirs)) != 1 {
				t.Errorf("%s is repaired upstream: drop the copy", name)
			}
			want = bytes.ReplaceAll(want, []byte(theirs), []byte(ours))
		}
		if copied++; !bytes.Equal(got, want) {
			t.Errorf("%s is not as upstream has it", name)
		}
		return err
	})
	if err != nil || copied < 25 {
		t.Errorf("%d files, %v", copied, err)
	}
}

// Products for comparison, and models, must not be needed for building the product.
func TestProductNeedsNoComparisonModules(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, peer := range []string{"blevesearch/bleve", "philippgille/chromem-go", "extism/go-sdk", "etcd.io/bbolt", "knights-analytics/hugot"} {
		if strings.Contains(string(b), peer) {
			t.Errorf("the root's go.mod names %s", peer)
		}
	}
}
