package e2e

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// outside returns an address of this machine that is not loopback.
func outside(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Fatal("this machine has no address but loopback")
	return ""
}

// curl makes a request with curl, which checks the pin, and returns status and body.
func curl(t *testing.T, args ...string) (status, body string) {
	t.Helper()
	return curlBy(t, []string{"curl"}, args...)
}

// curlBy does the same with a command that runs curl.
func curlBy(t *testing.T, by []string, args ...string) (status, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args = append(append(by[1:len(by):len(by)], "-s", "-S", "-k", "-w", "\n%{http_code}"), args...)
	out, err := exec.CommandContext(ctx, by[0], args...).CombinedOutput()
	at := bytes.LastIndexByte(out, '\n')
	if err != nil || at < 0 {
		return err.Error(), string(out)
	}
	return string(out[at+1:]), string(out[:at])
}

// A program on another machine has a key for reading: it searches, can't add anything, and is shut
// out within a second of the revocation. The socket requires a token as well.
func TestRemoteApp(t *testing.T) {
	h := newHome(t)
	host := outside(t)
	port := freeport.Port(t)
	remote := net.JoinHostPort(host, port)
	conf, err := os.OpenFile(filepath.Join(h.dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = conf.WriteString("\n[api]\nremote = \"" + remote + "\"\nask_token = true\n")
	}
	if err != nil || conf.Close() != nil {
		t.Fatal(err)
	}
	h.start()
	h.must("add", "--plain", "Ana likes green tea")
	var made struct{ Key, Link string }
	h.mustJSON(&made, "app", "add", "reader", "--can", "read", "--types", "semantic")
	u, err := url.Parse(made.Link)
	if err != nil || u.Host != remote {
		t.Fatalf("%s, %v", made.Link, err)
	}
	q, err := url.ParseQuery(u.EscapedFragment())
	if err != nil || q.Get("key") != made.Key || !strings.HasPrefix(q.Get("pin"), "sha256//") {
		t.Fatalf("%s, %v", made.Link, err)
	}
	api := "https://" + remote
	as := func(key string) []string {
		return []string{"--pinnedpubkey", q.Get("pin"), "-H", "Authorization: Bearer " + key, "-H", "Content-Type: application/json"}
	}
	if status, body := curl(t, append(as(made.Key), "-d", `{"query":"what does Ana drink"}`, api+"/v1/search")...); status != "200" || !strings.Contains(body, "green tea") {
		t.Errorf("%s %s", status, body)
	}
	if status, body := curl(t, append(as(made.Key), "-d", `{"text":"Ana likes coffee"}`, api+"/v1/memories")...); status != "403" || !strings.Contains(body, "may not add: it may read") {
		t.Errorf("%s %s", status, body)
	}
	if status, body := curl(t, "--pinnedpubkey", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", api+"/healthz"); status == "200" {
		t.Errorf("another pin: %s %s", status, body)
	}
	if status, body := curl(t, "http://"+remote+"/healthz"); status != "400" || strings.Contains(body, "urn:locket") {
		t.Errorf("in the clear: %s %s", status, body)
	}
	token, err := os.ReadFile(filepath.Join(h.dir, "api.token"))
	if err != nil {
		t.Fatal(err)
	}
	if status, body := curl(t, append(as(strings.TrimSpace(string(token))), api+"/v1/memories")...); status != "401" {
		t.Errorf("the owner's token: %s %s", status, body)
	}
	// An assistant on the other machine, with the link and without a home.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(link, []byte(made.Link+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if out, err := inspect(t, filepath.Join(bin, "locket"), "--home", filepath.Join(t.TempDir(), "none"), "mcp", "--key-file", link,
		"--method", "tools/call", "--tool-name", "search_memories", "--tool-arg", "query=tea"); err != nil || !strings.Contains(out, "green tea") {
		t.Errorf("%v\n%s", err, out)
	}
	// The socket admits nobody without a token; the commands have it, and an app may use its own.
	socket := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(h.dir, "locket.sock"))
	}}}
	defer socket.CloseIdleConnections()
	for key, want := range map[string]int{"": 401, "Bearer " + made.Key: 200, "Bearer " + strings.TrimSpace(string(token)): 200} {
		r, err := http.NewRequestWithContext(ctx, "GET", "http://localhost/v1/memories", nil)
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			r.Header.Set("Authorization", key)
		}
		res, err := socket.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("socket with %.10q: %s, want %d", key, res.Status, want)
		}
	}
	if log := h.must("app", "log", "reader"); !strings.Contains(log, "searched, and was shown") || !strings.Contains(log, "may not add") {
		t.Error(log)
	}
	// An open stream ends, and each request after the revocation is refused.
	stream := exec.CommandContext(ctx, "curl", append(append([]string{"-s", "-k", "-N"}, as(made.Key)...), api+"/v1/changes?follow=true")...)
	var streamed bytes.Buffer
	stream.Stdout = &streamed
	if err := stream.Start(); err != nil {
		t.Fatal(err)
	}
	h.must("app", "revoke", "reader")
	if err := stream.Wait(); err != nil {
		t.Error(err)
	}
	if status, body := curl(t, append(as(made.Key), api+"/v1/self")...); status != "401" {
		t.Errorf("after the revocation: %s %s", status, body)
	}
	if !strings.Contains(streamed.String(), `"status":401`) {
		t.Errorf("the stream: %s", streamed.String())
	}
}
