package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// network is another machine as far as packets can tell: a network namespace that a virtual cable
// joins to this one. It ends with its process.
type network struct {
	t    *testing.T
	pid  string
	host string // this machine's address on the cable
}

// newNetwork needs root, as CI has it. The addresses are those that RFC 2544 reserves for tests of
// networks.
func newNetwork(t *testing.T) *network {
	t.Helper()
	holder := exec.Command("unshare", "--net", "sh", "-c", "echo apart; exec sleep infinity")
	holder.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	holder.Stderr = os.Stderr
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatalf("a network namespace: %v", err)
	}
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait() // it was killed
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("a network namespace: %q, %v: it needs root", line, err)
	}
	n := &network{t: t, pid: fmt.Sprint(holder.Process.Pid)}
	here, there, subnet := "lkh"+n.pid, "lkt"+n.pid, holder.Process.Pid%0x4000*4
	address := func(i int) string { return fmt.Sprintf("198.18.%d.%d", subnet>>8, subnet&0xff+i) }
	n.host = address(1)
	for _, args := range [][]string{
		{"ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", n.pid},
		{"ip", "address", "add", n.host + "/30", "dev", here},
		{"ip", "link", "set", here, "up"},
		n.inside("ip", "address", "add", address(2)+"/30", "dev", there),
		n.inside("ip", "link", "set", there, "up"),
		n.inside("ip", "link", "set", "lo", "up"),
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return n
}

// inside wraps a command to run on the other machine.
func (n *network) inside(args ...string) []string {
	return append([]string{"nsenter", "--target", n.pid, "--net", "--"}, args...)
}

// agent is a program on the other machine with a key and the node's pin.
type agent struct {
	*network
	api  string
	args []string
}

// ask sends JSON by POST, or, without a body, asks by GET.
func (a *agent) ask(path, body string, args ...string) (status, answer string) {
	a.t.Helper()
	if body != "" {
		args = append(args, "-d", body)
	}
	return curlBy(a.t, a.inside("curl"), append(append(args, a.args...), a.api+path)...)
}

// tool calls a tool over MCP.
func (a *agent) tool(name, arguments string) (status, answer string) {
	a.t.Helper()
	return a.ask("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`,
		"-H", "Accept: application/json, text/event-stream", "-H", "MCP-Protocol-Version: 2025-11-25")
}

// stream opens an endless answer, and returns once a line begins with begun. rest returns its other
// lines after its end, and whether it ended by itself.
func (a *agent) stream(begun, path, body string, args ...string) (rest func() (string, error)) {
	a.t.Helper()
	if body != "" {
		args = append(args, "-d", body)
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	a.t.Cleanup(cancel)
	of := a.inside(append(append([]string{"curl", "-s", "-S", "-k", "-N"}, append(args, a.args...)...), a.api+path)...)
	cmd := exec.CommandContext(ctx, of[0], of[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for found := false; !found; found = strings.Contains(lines.Text(), begun) {
		if !lines.Scan() {
			a.t.Fatalf("%s: no %q: %v", path, begun, lines.Err())
		}
	}
	return func() (string, error) {
		var all strings.Builder
		for lines.Scan() {
			all.WriteString(lines.Text() + "\n")
		}
		return all.String(), cmd.Wait()
	}
}

// An agent in another network has a read-only key and TLS. It can search through each interface and
// add through none, and the audit names both. When its key is revoked its streams end, and each
// interface refuses its next request.
func TestAgentInAnotherNetwork(t *testing.T) {
	n, h := newNetwork(t), newHome(t)
	local := h.overTCP()
	port := freeport.Port(t)
	remote := net.JoinHostPort(n.host, port)
	conf, err := os.OpenFile(filepath.Join(h.dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = conf.WriteString("remote = \"" + remote + "\"\n") // in [api]
	}
	if err != nil || conf.Close() != nil {
		t.Fatal(err)
	}
	h.start()
	h.must("add", "--plain", "Ana likes green tea")
	var made struct{ Key, Link string }
	h.mustJSON(&made, "app", "add", "agent", "--can", "read", "--types", "semantic")
	u, err := url.Parse(made.Link)
	if err != nil || u.Host != remote {
		t.Fatalf("%s, %v", made.Link, err)
	}
	q, err := url.ParseQuery(u.EscapedFragment())
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{n, "https://" + remote, []string{"--pinnedpubkey", q.Get("pin"), "-H", "Authorization: Bearer " + made.Key, "-H", "Content-Type: application/json"}}

	// The loopback of one network is not that of the other.
	if status, _ := curl(t, "http://"+local+"/healthz"); status != "200" {
		t.Errorf("here: %s", status)
	}
	if status, _ := curlBy(t, n.inside("curl"), "http://"+local+"/healthz"); status == "200" {
		t.Error("there: this machine's loopback answers, so that the network is no other one")
	}

	searches := map[string]func() (string, string){
		"api":  func() (string, string) { return a.ask("/v1/search", `{"query":"what does Ana drink"}`) },
		"mem0": func() (string, string) { return a.ask("/mem0/v3/memories/search/", `{"query":"what does Ana drink"}`) },
		"mcp":  func() (string, string) { return a.tool("search_memories", `{"query":"what does Ana drink"}`) },
	}
	for door, search := range searches {
		if status, body := search(); status != "200" || !strings.Contains(body, "green tea") {
			t.Errorf("%s: searching: %s %s", door, status, body)
		}
	}
	adds := map[string]func() (string, string){
		"api": func() (string, string) { return a.ask("/v1/memories", `{"text":"Ana likes coffee"}`) },
		"mem0": func() (string, string) {
			return a.ask("/mem0/v3/memories/add/", `{"messages":[{"role":"user","content":"Ana likes coffee"}],"user_id":"wearer","infer":false}`)
		},
		"mcp": func() (string, string) { return a.tool("add_memory", `{"text":"Ana likes coffee"}`) },
	}
	for door, add := range adds {
		status, body := add()
		if !strings.Contains(body, "may not add") || door == "mcp" && !strings.Contains(body, `"isError":true`) || door != "mcp" && status != "403" {
			t.Errorf("%s: adding: %s %s", door, status, body)
		}
	}
	if out := h.must("list"); strings.Contains(out, "coffee") {
		t.Error(out)
	}
	out := h.must("app", "log", "agent")
	if got := strings.Count(out, "searched, and was shown"); got != len(searches) {
		t.Errorf("%d searches in the audit, want %d\n%s", got, len(searches), out)
	}
	if got := strings.Count(out, "may not add"); got != len(adds) {
		t.Errorf("%d refused adds in the audit, want %d\n%s", got, len(adds), out)
	}

	streams := map[string]func() (string, error){
		"changes": a.stream("green tea", "/v1/changes?follow=true", ""),
		"mcp": a.stream("notifications/subscriptions/acknowledged", "/mcp", `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["memory://core"]},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			"-H", "Accept: application/json, text/event-stream", "-H", "MCP-Protocol-Version: 2026-07-28", "-H", "Mcp-Method: subscriptions/listen"),
	}
	h.must("app", "revoke", "agent")
	for door, search := range searches {
		if status, body := search(); status != "401" || strings.Contains(body, "green tea") {
			t.Errorf("%s: searching after the revocation: %s %s", door, status, body)
		}
	}
	for door, add := range adds {
		if status, body := add(); status != "401" {
			t.Errorf("%s: adding after the revocation: %s %s", door, status, body)
		}
	}
	// New memories are sent to nobody now, and the streams end.
	h.must("add", "--plain", "Ana rides a bike")
	for name, rest := range streams {
		said, err := rest()
		if err != nil || strings.Contains(said, "bike") {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
		if name == "changes" && !strings.Contains(said, `"status":401`) {
			t.Errorf("%s: %s", name, said)
		}
	}
}
