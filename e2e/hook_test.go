package e2e

import (
	"bufio"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/freeport"
)

// The library standardwebhooks from npm receives an app's notifications: one that was refused comes
// again after a restart.
func TestWebhook(t *testing.T) {
	npm(t, "standardwebhooks/package.json")
	h := newHome(t)
	d := h.start()
	address := freeport.Addr(t)
	var made struct {
		Key    string
		Secret string `json:"hook_secret"`
	}
	h.mustJSON(&made, "app", "add", "bridge", "--can", "read", "--types", "semantic", "--hook", "http://"+address+"/locket")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "hook.cjs", port, made.Secret, "1")
	cmd.Dir = "clients"
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := make(chan string, 9)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			lines <- s.Text()
		}
	}()
	type told struct {
		ID, Error string
		Message   struct {
			Type string
			Data struct {
				App    string
				Memory struct{ Text string }
			}
		}
	}
	next := func() (v told) {
		t.Helper()
		mustParse(t, <-lines, &v)
		return v
	}
	next() // it is listening
	h.must("add", "--plain", "--type", "episodic", "Ana met Tom")
	h.must("add", "--plain", "Ana likes green tea")
	first := next()
	if first.Error != "" || first.Message.Type != "memory.added" || first.Message.Data.App != "bridge" || first.Message.Data.Memory.Text != "Ana likes green tea" {
		t.Errorf("%+v", first)
	}
	// The next try comes after 5 s and succeeds. On a busy machine that may happen before this
	// check.
	h.eventually("a try in vain is told", func(out string) bool { return strings.Contains(out, "failed 1 times") || len(lines) > 0 }, "app", "list")
	if err := d.stop(t); err != nil {
		t.Fatal(err)
	}
	h.start()
	if again := next(); again != first {
		t.Errorf("%+v, want %+v", again, first)
	}
	h.must("add", "--plain", "Ana likes coffee")
	if v := next(); v.Message.Data.Memory.Text != "Ana likes coffee" || v.ID == first.ID {
		t.Errorf("%+v", v)
	}
	if log := h.must("app", "log", "bridge"); !strings.Contains(log, "was called at its hook, and was shown") {
		t.Error(log)
	}
}
