package engine

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// A program that needs no network has none, where the kernel lets us have a namespace for it.
func TestOffline(t *testing.T) {
	c := program(t, `cat /proc/net/dev /proc/net/route; echo mine > a && stat -c %u a && id -u`)
	c.Offline = true
	out, err := c.Run(t.Context(), Input{})
	if err != nil {
		t.Fatal(err)
	}
	s := string(out)
	if namespaces() != (strings.Count(s, ":") == 1 && strings.Contains(s, "lo:")) {
		t.Errorf("namespaces: %t, and it sees\n%s", namespaces(), s)
	}
	lines := strings.Fields(s)
	if n := len(lines); lines[n-1] != lines[n-2] {
		t.Errorf("its files are not its own: %s", s)
	}
}

// Where a program can't be kept from the network, the log says so.
func TestOnline(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	t.Cleanup(func() { slog.SetDefault(old) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	if able(errors.New("operation not permitted")) || strings.Count(log.String(), "run with a network") != 1 || !strings.Contains(log.String(), "not permitted") {
		t.Error(log.String())
	}
	log.Reset()
	if !able(nil) || log.Len() > 0 {
		t.Error(log.String())
	}
}
