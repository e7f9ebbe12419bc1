package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// strictly reads a JSON file that has only these fields.
func strictly(t *testing.T, file string, to any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// understood checks that the command accepts a line with its flags.
func understood(t *testing.T, file string, words []string) {
	t.Helper()
	if len(words) == 0 || words[0] != "locket" {
		t.Fatalf("%s: %q is not locket", file, words)
	}
	root := root((&cli.App{Deps: testDeps()}))
	c, rest, err := root.Find(words[1:])
	if err != nil || c == root {
		t.Fatalf("%s: %q: %v", file, words, err)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("%s: %q: %v", file, words, err)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		t.Errorf("%s: %q: %v", file, words, err)
	}
}

// The commands that the plugin for Claude Code and the hooks for Codex start exist, and can't end
// with the exit code that discards a prompt.
func TestAssistantFiles(t *testing.T) {
	for _, file := range []string{"claude-code/hooks/hooks.json", "codex/hooks.json"} {
		var hooks struct {
			Description string
			Hooks       map[string][]struct {
				Matcher string
				Hooks   []struct {
					Type, Command string
					Timeout       int
				}
			}
		}
		strictly(t, file, &hooks)
		if len(hooks.Hooks) != 2 || len(hooks.Hooks["SessionStart"]) != 1 || len(hooks.Hooks["UserPromptSubmit"]) != 1 {
			t.Errorf("%s: %+v", file, hooks)
		}
		for event, groups := range hooks.Hooks {
			for _, h := range groups[0].Hooks {
				line, quiet := strings.CutSuffix(h.Command, " || exit 0")
				if understood(t, file, strings.Fields(line)); !quiet || h.Type != "command" {
					t.Errorf("%s: %s: %+v", file, event, h)
				}
			}
		}
	}
	var servers struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	strictly(t, "claude-code/.mcp.json", &servers)
	s, ok := servers.Servers["locket"]
	if understood(t, ".mcp.json", append([]string{s.Command}, s.Args...)); !ok {
		t.Errorf("%+v", servers)
	}
	var plugin struct {
		Name, Version, Description string
		Author                     struct{ Name string }
		Keywords                   []string
	}
	if strictly(t, "claude-code/.claude-plugin/plugin.json", &plugin); plugin.Name != "locket" || plugin.Version == "" {
		t.Errorf("%+v", plugin)
	}
}

// The skill has the two fields of its header, and names tools and commands that exist.
func TestAssistantSkill(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "claude-code", "skills", "locket", "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^---\nname: locket\ndescription: [^\n]{40,1000}\n---\n`).Match(b) {
		t.Errorf("%.200s", b)
	}
	var tools []byte
	for _, name := range []string{"read.go", "write.go"} {
		source, err := os.ReadFile(filepath.Join("..", "..", "node", "mcp", name))
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, source...)
	}
	for _, m := range regexp.MustCompile("`([a-z_]+(?: [a-z]+)*)`").FindAllSubmatch(b, -1) {
		word := string(m[1])
		switch {
		case word == "locket": // the server
		case strings.HasPrefix(word, "locket "):
			understood(t, "SKILL.md", strings.Fields(word))
		case !bytes.Contains(tools, []byte(`Tool{Name: "`+word+`"`)):
			t.Errorf("%q is no tool", word)
		}
	}
}
