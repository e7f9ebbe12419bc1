package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// Each example of docs/api.md is run unchanged against a node: as an app that may add and read, and
// as one that may not add, whose example reports that and fails.
func TestExamplesOfTheAPI(t *testing.T) {
	npm(t, "typescript/package.json")
	doc, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	address := h.overTCP()
	h.start()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir := t.TempDir()
	for _, x := range []struct {
		lang, file string
		run        func(file string) *exec.Cmd
	}{
		{"python", "example.py", func(file string) *exec.Cmd { return exec.CommandContext(ctx, "/usr/bin/python3", "-I", file) }},
		{"ts", "example.ts", func(file string) *exec.Cmd {
			return exec.CommandContext(ctx, "node", "clients/typed.cjs", file, filepath.Join(dir, "out"))
		}},
		{"go", "example.go", func(file string) *exec.Cmd { return exec.CommandContext(ctx, "go", "run", file) }},
	} {
		found := regexp.MustCompile("(?s)\n```"+x.lang+"\n(.*?)\n```\n").FindAllSubmatch(doc, -1)
		if len(found) != 1 {
			t.Fatalf("%d examples in %s, want one", len(found), x.lang)
		}
		file := filepath.Join(dir, x.file)
		if err := os.WriteFile(file, found[0][1], 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(can string) (out, errs string, err error) {
			name := x.lang + "-" + strings.ReplaceAll(can, ",", "-")
			key := strings.TrimSpace(h.must("app", "add", name, "--can", can, "--types", "semantic,episodic"))
			cmd := x.run(file)
			cmd.Env = append(os.Environ(), "NODE_KEY="+key, "NODE_URL=http://"+address)
			var o, e bytes.Buffer
			cmd.Stdout, cmd.Stderr = &o, &e
			err = cmd.Run()
			return o.String(), e.String(), err
		}
		if out, errs, err := run("read,add"); err != nil || !regexp.MustCompile(`(?m)^0\.\d\d .*Rita.*Porto`).MatchString(out) {
			t.Errorf("%s: %v\n%s%s", x.lang, err, out, errs)
		} else if x.lang == "python" && !strings.Contains(out, "ADD ") { // the others send it again
			t.Errorf("%s:\n%s", x.lang, out)
		}
		if out, errs, err := run("read"); err == nil || !strings.Contains(errs, "403 ") || out != "" {
			t.Errorf("%s, read-only: %v\n%s%s", x.lang, err, out, errs)
		}
	}
}

// docs/memory.schema.json accepts memories of each type as a node returns them, and refuses spoilt
// ones. Ajv decides.
func TestMemorySchema(t *testing.T) {
	npm(t, "ajv/package.json")
	h := newHome(t)
	h.start()
	h.must("replay", "../testdata/short.txt")
	h.must("add", "I met Tom at the harbour in Lindau yesterday.")
	h.must("add", "The Wi-Fi password is maple-TREE-9921.")
	h.must("add", "--plain", "--block", "persona", "Answers in short sentences.")
	h.must("add", "Every Monday I first back up the laptop, then I clean the desk, then I write the report.")
	file := filepath.Join(t.TempDir(), "manual.txt")
	if err := os.WriteFile(file, []byte("Turn the left screw by a quarter."), 0o600); err != nil {
		t.Fatal(err)
	}
	h.must("add", "--plain", "--type", "resource", "--file", file, "The stove's manual")
	h.must("add", "My sister Rita moved to Porto.")
	lines := strings.Split(strings.TrimSpace(h.must("--json", "list", "--state", "all")), "\n")
	var types []memory.Type
	for _, line := range lines {
		var m memory.Memory
		mustParse(t, line, &m)
		types = append(types, m.Type)
	}
	for _, want := range memory.Types {
		if !slices.Contains(types, want) {
			t.Errorf("no %s memory among %q", want, types)
		}
	}
	for i, problem := range bySchema(t, lines) {
		if problem != "" {
			t.Errorf("%s\n%s", problem, lines[i])
		}
	}
	var bad, what []string
	for _, line := range lines {
		for _, spoil := range []struct {
			what string
			do   func(m map[string]any)
		}{
			{"no text", func(m map[string]any) { delete(m, "text") }},
			{"no evidence", func(m map[string]any) { delete(m, "evidence") }},
			{"a number for a text", func(m map[string]any) { m["text"] = 7 }},
			{"a text for a number", func(m map[string]any) { m["confidence"] = "0.5" }},
			{"more than sure", func(m map[string]any) { m["confidence"] = 1.01 }},
			{"no such type", func(m map[string]any) { m["type"] = "mood" }},
			{"no such state", func(m map[string]any) { m["state"] = "lost" }},
			{"a short id", func(m map[string]any) { m["id"] = "0123456789" }},
			{"a letter that ids have not", func(m map[string]any) { m["id"] = strings.Repeat("u", 26) }},
			{"no time", func(m map[string]any) { m["learnt"] = "yesterday" }},
			{"a name that nobody knows", func(m map[string]any) { m["colour"] = "red" }},
			{"an owner without user", func(m map[string]any) { m["owner"] = map[string]any{"agent": "a"} }},
			{"fields of another type", func(m map[string]any) {
				other := "core"
				if m["type"] == other {
					other = "vault"
				}
				m["fields"] = map[string]any{other: map[string]any{}}
			}},
			{"evidence that is no list", func(m map[string]any) { m["evidence"] = map[string]any{} }},
		} {
			var m map[string]any
			mustParse(t, line, &m)
			spoil.do(m)
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			bad, what = append(bad, string(b)), append(what, spoil.what)
		}
	}
	for i, problem := range bySchema(t, bad) {
		if problem == "" {
			t.Errorf("it takes %s:\n%s", what[i], bad[i])
		}
	}
}

// bySchema returns what is wrong with each memory; empty: nothing.
func bySchema(t *testing.T, lines []string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "schema.cjs", "../../docs/memory.schema.json")
	cmd.Dir, cmd.Stdin = "clients", strings.NewReader(strings.Join(lines, "\n"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	problems := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(problems) != len(lines) {
		t.Fatalf("%d answers to %d memories\n%s", len(problems), len(lines), out)
	}
	return problems
}
