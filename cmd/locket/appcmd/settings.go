package appcmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
)

// host is a program that starts MCP servers.
type host struct {
	name string
	list string // member of its file that contains the servers
	path func(home, config string) string
}

var hosts = []host{
	{"claude-desktop", "mcpServers", func(_, config string) string { return filepath.Join(config, "Claude", "claude_desktop_config.json") }},
	{"claude-code", "mcpServers", func(_, _ string) string { return ".mcp.json" }},
	{"cursor", "mcpServers", func(home, _ string) string { return filepath.Join(home, ".cursor", "mcp.json") }},
	{"vscode", "servers", func(_, config string) string { return filepath.Join(config, "Code", "User", "mcp.json") }},
	{codex, "mcp_servers", func(home, _ string) string {
		return filepath.Join(cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(home, ".codex")), "config.toml")
	}},
}

const codex = "codex" // the one host whose settings are TOML

func hostNames() string {
	var out []string
	for _, h := range hosts {
		out = append(out, h.name)
	}
	return strings.Join(out, ", ")
}

// change returns the host's file before and after the change, and the new entry as lines.
func (h *host) change(file, home, keyFile string) (was, now []byte, shown string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, "", err
	}
	args := []string{"--home", home, "mcp", "--key-file", keyFile}
	if h.name == codex {
		return enteredTOML(file, h.list, exe, args)
	}
	entry := map[string]any{"command": exe, "args": args}
	if h.list == "servers" {
		entry["type"] = "stdio"
	}
	return entered(file, []string{h.list, "locket"}, entry)
}

// settings returns the path of the host's file.
func (h *host) settings(given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		config = os.Getenv("APPDATA")
	}
	return filepath.Abs(h.path(home, config))
}

// entered returns a JSON file before and after value is put at path, and the new value as lines.
// was is nil if the file does not exist.
func entered(file string, path []string, value any) (was, now []byte, shown string, err error) {
	text, err := json.MarshalIndent(value, "    ", "  ")
	if err != nil {
		return nil, nil, "", err
	}
	shown = "+   " + strings.ReplaceAll(string(text), "\n", "\n+ ")
	if was, err = readSettings(file); err != nil {
		return nil, nil, "", err
	}
	from := was
	if from == nil {
		from = []byte("{}")
	}
	if !json.Valid(from) {
		return nil, nil, "", fmt.Errorf("%s is not plain JSON (it may have comments). Add this yourself as %q:\n%s", file, strings.Join(path, "."), text)
	}
	if now, err = withMember(from, path, text); err != nil {
		return nil, nil, "", fmt.Errorf("%s: %w", file, err)
	}
	if was == nil {
		var b bytes.Buffer
		if err := json.Indent(&b, now, "", "  "); err != nil {
			return nil, nil, "", err
		}
		now = append(b.Bytes(), '\n')
	}
	return was, now, shown, nil
}

// withMember returns a JSON object with value at path. Everything else in it stays byte for byte.
// If two members have the same name, it replaces the last, because that is the one that counts.
func withMember(object []byte, path []string, value []byte) ([]byte, error) {
	if len(path) == 0 {
		return value, nil
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%.40q is not an object, so it can't have a member %q", object, path[0])
	}
	end, before := d.InputOffset(), "" // end of the last member, and the text between it and the next
	var at int64                       // where the value is now, if it exists
	var was json.RawMessage
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		end, before = d.InputOffset(), ","
		if name == path[0] {
			at, was = end-int64(len(v)), v
		}
	}
	inner := []byte(was)
	if was == nil || string(was) == "null" {
		inner = []byte("{}")
	}
	inner, err := withMember(inner, path[1:], value)
	if err != nil || was != nil {
		return slices.Concat(object[:at], inner, object[int(at)+len(was):]), err
	}
	name, err := json.Marshal(path[0])
	return slices.Concat(object[:end], []byte(before), name, []byte(":"), inner, object[end:]), err
}

// readSettings reads a file. It returns nil if the file does not exist or is empty.
func readSettings(file string) ([]byte, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(b)) == 0 {
		return nil, nil
	}
	return b, err
}

// writeSettings replaces a file, but only if it is still as it was read.
func writeSettings(file string, was, now []byte) error {
	have, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if was != nil && !bytes.Equal(have, was) || was == nil && len(bytes.TrimSpace(have)) > 0 {
		return fmt.Errorf("%s was changed meanwhile and was not overwritten; run the command again", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	return errors.Join(atomicfile.Write(file, now), os.Chmod(file, mode))
}
