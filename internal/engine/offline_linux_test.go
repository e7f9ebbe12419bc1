package engine

import (
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
