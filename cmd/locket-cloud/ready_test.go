package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The exit code reports whether a relay is ready.
func TestReady(t *testing.T) {
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			t.Errorf("%s was asked", r.URL.Path)
		}
		w.WriteHeader(status)
	}))
	defer s.Close()
	ask := func(url string) (int, string) {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"ready", "--json", "--url", url}, strings.NewReader(""), &out, &errs)
		return code, out.String() + errs.String()
	}
	if code, text := ask(s.URL); code != exitDone || text != `{"ready":true}`+"\n" {
		t.Error(code, text)
	}
	status = http.StatusServiceUnavailable
	if code, text := ask(s.URL); code != exitFailed || !strings.Contains(text, "503") {
		t.Error(code, text)
	}
	s.Close()
	if code, text := ask(s.URL); code != exitFailed {
		t.Error(code, text)
	}
	if code, text := ask("://"); code != exitUsage {
		t.Error(code, text)
	}
}

// ready runs the command as a process with more environment variables, and returns its exit code
// and what it printed.
func ready(t *testing.T, env ...string) (int, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "ready")
	cmd.Env = append(append(os.Environ(), asCommand+"=1"), env...)
	out, _ := cmd.CombinedOutput() // the exit code has the error
	return cmd.ProcessState.ExitCode(), string(out)
}

// Without --url, the relay is asked where its own settings say that it listens.
func TestReadyBySettings(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, 1, time.Now().Add(-time.Minute))
	p := start(t, "--data", filepath.Join(dir, "data"), "--open", "--tls-cert", cert, "--tls-key", key)
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	at := strings.TrimPrefix(p.url, "https://")
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("relay.toml", "listen = \"0.0.0.0:"+port+"\"\ntls-cert = \""+cert+"\"\ntls-key = \""+key+"\"\n")
	old, oldKey := filepath.Join(dir, "old.pem"), filepath.Join(dir, "old.key")
	writePair(t, old, oldKey, 2, time.Now().Add(-time.Minute))
	for _, c := range []struct {
		name string
		env  []string
		code int
		text string
	}{
		{"variables", []string{"LOCKET_CLOUD_LISTEN=" + at, "LOCKET_CLOUD_TLS_CERT=" + cert}, exitDone, "The relay is ready."},
		{"a file", []string{"LOCKET_CLOUD_CONFIG=" + file}, exitDone, "The relay is ready."},
		{"a file, and other settings of a relay", []string{"LOCKET_CLOUD_CONFIG=" + file, "LOCKET_CLOUD_QUOTA_BYTES=5", "LOCKET_CLOUD_AUTHORITY=relay.example"}, exitDone, "The relay is ready."},
		{"without its certificate", []string{"LOCKET_CLOUD_LISTEN=" + at}, exitFailed, ""},
		{"another certificate", []string{"LOCKET_CLOUD_LISTEN=" + at, "LOCKET_CLOUD_TLS_CERT=" + old}, exitFailed, "certificate"},
		{"no certificate in the file", []string{"LOCKET_CLOUD_LISTEN=" + at, "LOCKET_CLOUD_TLS_CERT=" + key}, exitFailed, "no certificate"},
		{"any port", []string{"LOCKET_CLOUD_LISTEN=127.0.0.1:0"}, exitUsage, "--url"},
		{"no address", []string{"LOCKET_CLOUD_LISTEN=relay"}, exitUsage, "--url"},
		{"a name that is no setting", []string{"LOCKET_CLOUD_LISEN=:7440"}, exitUsage, "LOCKET_CLOUD_LISEN"},
	} {
		if code, text := ready(t, c.env...); code != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %s", c.name, code, text)
		}
	}
}
