package appcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In a settings file of Codex only the command and args of locket change, or nothing changes.
func TestEntryInTOML(t *testing.T) {
	const header, entry = "[mcp_servers.locket]", "command = \"/bin/locket\"\nargs = [\"mcp\",\"--key-file\",\"/k\"]"
	const old = "args = [ # theirs\n  \"x\",\n]\n"
	for name, c := range map[string]struct{ before, after string }{ // an empty after means refused
		"no file":           {"", header + "\n" + entry + "\n"},
		"other things":      {"a = 1 # one\n\n[b]\nc=  2\n", "a = 1 # one\n\n[b]\nc=  2\n\n" + header + "\n" + entry + "\n"},
		"no last line end":  {"[b]\nc = 2", "[b]\nc = 2\n\n" + header + "\n" + entry + "\n"},
		"CRLF":              {"a = 1\r\n", "a = 1\r\n\r\n" + header + "\r\n" + strings.ReplaceAll(entry, "\n", "\r\n") + "\r\n"},
		"an older entry":    {header + " # mine\n" + old + "enabled = false # off\ncommand = \"/old\" # here\n[mcp_servers.locket.tools.ask]\napproval_mode = \"approve\"\n[z]\ncommand = 'q'\n", header + " # mine\nargs = [\"mcp\",\"--key-file\",\"/k\"]\nenabled = false # off\ncommand = \"/bin/locket\" # here\n[mcp_servers.locket.tools.ask]\napproval_mode = \"approve\"\n[z]\ncommand = 'q'\n"},
		"half an entry":     {header + " # mine\nenabled = true\n" + old, header + " # mine\ncommand = \"/bin/locket\"\nenabled = true\nargs = [\"mcp\",\"--key-file\",\"/k\"]\n"},
		"spaced and quoted": {"[ mcp_servers . \"locket\" ]\r\ncommand = 'x'\r\nargs = []\r\n", "[ mcp_servers . \"locket\" ]\r\ncommand = \"/bin/locket\"\r\nargs = [\"mcp\",\"--key-file\",\"/k\"]\r\n"},
		"tools before it":   {"[mcp_servers.locket.tools.ask]\napproval_mode = \"approve\"\n", "[mcp_servers.locket.tools.ask]\napproval_mode = \"approve\"\n\n" + header + "\n" + entry + "\n"},
		"an inline table":   {"mcp_servers = {x = {command = 'x'}}\n", ""},
		"dotted keys":       {"[mcp_servers]\nlocket.command = 'x'\n", ""},
		"an array":          {"[[mcp_servers.locket]]\ncommand = 'x'\n", ""},
		"a word":            {"mcp_servers = 'none'\n", ""},
		"an address":        {header + "\nurl = 'http://x'\n", ""},
		"no TOML":           {"a = \n", ""},
	} {
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		_, now, shown, err := enteredTOML(file, "mcp_servers", "/bin/locket", []string{"mcp", "--key-file", "/k"})
		if c.after == "" {
			if err == nil || !strings.Contains(err.Error(), "this yourself") {
				t.Errorf("%s: %q, %v", name, now, err)
			}
			continue
		}
		if err != nil || string(now) != c.after || !strings.HasPrefix(shown, "+ "+header) {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, now, c.after)
			continue
		}
		if err := os.WriteFile(file, now, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, again, _, err := enteredTOML(file, "mcp_servers", "/bin/locket", []string{"mcp", "--key-file", "/k"}); err != nil || string(again) != c.after {
			t.Errorf("%s, again: %v\n%q", name, err, again)
		}
	}
}
