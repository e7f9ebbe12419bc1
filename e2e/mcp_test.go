package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// npm returns the path of a file in a package that e2e/clients/package.json pins.
func npm(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("clients", "node_modules", name))
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		t.Fatalf("%v: .ci/needs installs it", err)
	}
	return file
}

// overTCP makes a home's commands and its daemon meet at a TCP address.
func (h *home) overTCP() (address string) {
	h.t.Helper()
	address = freeport.Addr(h.t)
	conf, err := os.OpenFile(filepath.Join(h.dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = conf.WriteString("\n[api]\nlisten = \"" + address + "\"\n")
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if err := conf.Close(); err != nil {
		h.t.Fatal(err)
	}
	return address
}

// inspect runs the MCP Inspector's command, and returns its output.
func inspect(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{npm(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var errb bytes.Buffer
	cmd.Stderr = &errb
	out, err := cmd.Output()
	if err != nil {
		return string(out) + errb.String(), err
	}
	return string(out), nil
}

// The MCP Inspector, unmodified, over HTTP with an app's key, and over the standard input of a
// process that it starts.
func TestMCPInspector(t *testing.T) {
	h := newHome(t)
	address := h.overTCP()
	h.start()
	h.must("add", "--plain", "Ana likes green tea")
	key := strings.TrimSpace(h.must("app", "add", "inspector", "--can", "read,add", "--types", "semantic"))
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	ways := map[string][]string{
		"http":  {"http://" + address + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + key},
		"stdio": {filepath.Join(bin, "locket"), "--home", h.dir, "mcp", "--key-file", file},
	}
	for name, way := range ways {
		ask := func(args ...string) string {
			t.Helper()
			out, err := inspect(t, append(way[:len(way):len(way)], args...)...)
			if err != nil {
				t.Fatalf("%s: %s: %v\n%s", name, strings.Join(args, " "), err, out)
			}
			return out
		}
		var list struct {
			Tools []struct{ Name string } `json:"tools"`
		}
		if mustParse(t, ask("--method", "tools/list"), &list); len(list.Tools) != 10 { // of 14: those that its rights allow
			t.Errorf("%s: %+v", name, list)
		}
		if out := ask("--method", "tools/call", "--tool-name", "search_memories", "--tool-arg", "query=tea"); !strings.Contains(out, "Ana likes green tea") || !strings.Contains(out, "structuredContent") {
			t.Errorf("%s: %s", name, out)
		}
		if out := ask("--method", "tools/call", "--tool-name", "add_memory", "--tool-arg", "text=Ana rides a "+name+" bike"); !strings.Contains(out, "ADD") {
			t.Errorf("%s: %s", name, out)
		}
		if out := ask("--method", "resources/templates/list"); !strings.Contains(out, "memory://day/{date}") {
			t.Errorf("%s: %s", name, out)
		}
		if out := ask("--method", "resources/read", "--uri", "memory://core"); !strings.Contains(out, "Nothing") {
			t.Errorf("%s: %s", name, out)
		}
		// Without the right, the tool does not exist.
		if out, err := inspect(t, append(way[:len(way):len(way)], "--method", "tools/call", "--tool-name", "delete_all_memories", "--tool-arg", "user_id=wearer")...); err == nil || !strings.Contains(out, "not found") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	if out := h.must("app", "log", "inspector"); !strings.Contains(out, "was shown") || !strings.Contains(out, "added") {
		t.Error(out)
	}
	h.must("app", "revoke", "inspector")
	for name, way := range ways {
		if out, err := inspect(t, append(way[:len(way):len(way)], "--method", "tools/list")...); err == nil {
			t.Errorf("%s: after revocation: %s", name, out)
		}
	}
	h.must("revert", "--app", "inspector", "--yes")
	if out := h.must("list"); strings.Contains(out, "bike") || !strings.Contains(out, "green tea") {
		t.Error(out)
	}
}

// mcp-remote, unmodified, connects a host that can only start a command to a node over HTTP.
func TestMCPRemote(t *testing.T) {
	h := newHome(t)
	address := h.overTCP()
	h.start()
	h.must("add", "--plain", "Ana likes green tea")
	key := strings.TrimSpace(h.must("app", "add", "remote", "--can", "read", "--types", "semantic"))
	// The Inspector would use a header for itself, so the key is in the address.
	out, err := inspect(t, "node", npm(t, "mcp-remote/dist/proxy.js"), "http://"+address+"/k/"+key+"/mcp", "--allow-http",
		"--method", "tools/call", "--tool-name", "search_memories", "--tool-arg", "query=tea")
	if err != nil || !strings.Contains(out, "Ana likes green tea") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The official TypeScript client, unmodified, follows a day, and is notified of new memories. That
// ends with the key.
func TestMCPSubscription(t *testing.T) {
	npm(t, "@modelcontextprotocol/client/package.json")
	h := newHome(t)
	address := h.overTCP()
	h.start()
	zone, err := time.LoadLocation("Europe/Lisbon") // the home's zone
	if err != nil {
		t.Fatal(err)
	}
	day := "memory://day/" + time.Now().In(zone).Format(time.DateOnly)
	for i, way := range [][2]string{{"legacy", "stdio"}, {"modern", "stdio"}, {"legacy", "http"}, {"modern", "http"}} {
		name := fmt.Sprintf("follower%d", i)
		key := strings.TrimSpace(h.must("app", "add", name, "--can", "read", "--types", "semantic"))
		to := []string{"http://" + address + "/mcp", key}
		if way[1] == "stdio" {
			file := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
				t.Fatal(err)
			}
			to = []string{filepath.Join(bin, "locket"), "--home", h.dir, "mcp", "--key-file", file}
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, "node", append([]string{"follow.mjs", day, way[0], way[1]}, to...)...)
		cmd.Dir = "clients"
		var errb bytes.Buffer
		cmd.Stderr = &errb
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		until := func(what string) {
			t.Helper()
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), what) {
					return
				}
			}
			t.Errorf("%v: no %q\n%s", way, what, errb.String())
		}
		until("following")
		h.must("add", "--plain", "Ana has bike number "+name)
		until("updated " + day)
		h.must("app", "revoke", name)
		if way[0] == "modern" {
			until("ended")
		}
		cancel()
		_ = cmd.Wait() // it may have been killed
	}
}

// The protocol's own conformance suite, unmodified, tests a node over HTTP.
// clients/conformance.yaml lists the scenarios that don't apply, with the reasons. These have to
// fail, and all others have to pass.
func TestMCPConformance(t *testing.T) {
	h := newHome(t)
	address := h.overTCP()
	h.start()
	key := strings.TrimSpace(h.must("app", "add", "conformance", "--can", "read,add", "--types", "semantic", "--requests", "1000"))
	// The suite can't send a header, so the key is in the address.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", npm(t, "@modelcontextprotocol/conformance/dist/index.js"), "server", "--url", "http://"+address+"/k/"+key+"/mcp",
		"--suite", "all", "--expected-failures", filepath.Join("clients", "conformance.yaml"))
	out, err := cmd.CombinedOutput()
	_, summary, found := strings.Cut(string(out), "=== SUMMARY ===")
	if err != nil || !found {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"server-initialize: 1", "logging-set-level: 1", "ping: 1", "tools-list: 1", "resources-list: 1", "prompts-list: 1", "server-sse-multiple-streams: 1", "dns-rebinding-protection: 2"} {
		if !strings.Contains(summary, name+" passed, 0 failed") {
			t.Errorf("%s is not passed\n%s", name, summary)
		}
	}
}

// An assistant's settings are changed as announced, and the rest of them is kept.
func TestMCPInstall(t *testing.T) {
	h := newHome(t)
	h.start()
	file := filepath.Join(t.TempDir(), "mcp.json")
	before := "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n"
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := h.try("mcp", "install", "cursor", "--file", file); code != 1 || !strings.Contains(errs, `"--key-file"`) {
		t.Errorf("without an answer: %d %s", code, errs)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != before {
		t.Errorf("changed without a yes: %s, %v", got, err)
	}
	for range 2 { // the second run finds its key
		h.must("mcp", "install", "cursor", "--file", file, "--yes")
	}
	// An assistant that was asked to do less does not keep a key that may do more.
	if _, errs, code := h.try("mcp", "install", "cursor", "--file", file, "--yes", "--can", "read"); code != 1 || !strings.Contains(errs, "may read, add") || strings.Contains(errs, "becomes") {
		t.Errorf("%d %s", code, errs)
	}
	h.must("app", "revoke", "cursor")
	h.must("mcp", "install", "cursor", "--file", file, "--yes", "--can", "read")
	if out := h.must("app", "list"); !strings.Contains(out, "cursor  may read ") {
		t.Error(out)
	}
	got, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(got), "{\n  \"theme\": \"dark\",") {
		t.Fatalf("%s, %v", got, err)
	}
	var settings struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(got, &settings); err != nil || settings.Servers["other"].Command != "x" {
		t.Fatalf("%s, %v", got, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	entry := settings.Servers["locket"]
	if out, err := inspect(t, append(append([]string{entry.Command}, entry.Args...), "--method", "tools/list")...); err != nil || !strings.Contains(out, "search_memories") {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte("{ // mine\n}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := h.try("mcp", "install", "cursor", "--file", file, "--yes"); code != 1 || !strings.Contains(errs, "not plain JSON") {
		t.Errorf("%d %s", code, errs)
	}
	if _, errs, code := h.try("mcp", "install", "emacs"); code != 2 || !strings.Contains(errs, "claude-desktop") {
		t.Errorf("%d %s", code, errs)
	}
}

// Over TCP the metrics have their own token, which opens nothing else.
func TestMetricsToken(t *testing.T) {
	h := newHome(t)
	address := h.overTCP()
	h.start()
	token, err := os.ReadFile(filepath.Join(h.dir, "metrics.token"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/metrics": 200, "/v1/memories": 403, "/v1/status": 403, "/mcp": 401} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, res.Status, want)
		}
	}
}
