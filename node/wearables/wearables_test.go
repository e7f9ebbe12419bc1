package wearables

import (
	"net"
	"testing"

	"github.com/locket-dev/locket/node/lan"
)

// Devices are told no address that means each machine itself.
func TestReached(t *testing.T) {
	all := lan.Reachable()
	for _, c := range []struct{ listen, want string }{
		{"127.0.0.1:1883", "127.0.0.1:1883"},
		{"localhost:1883", "localhost:1883"},
		{"192.0.2.7:1883", "192.0.2.7:1883"},
	} {
		if got := reached(c.listen); got != c.want {
			t.Errorf("%s: %s, want %s", c.listen, got, c.want)
		}
	}
	for _, listen := range []string{"0.0.0.0:1883", "[::]:1883", ":1883"} {
		want := listen // of a machine without a network
		if len(all) > 0 {
			want = net.JoinHostPort(all[0].String(), "1883")
		}
		if got := reached(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}
