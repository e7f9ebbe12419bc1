package wearables

import (
	"net/netip"
	"testing"
)

// Devices are not given an address that every machine has for itself.
func TestReachableAddresses(t *testing.T) {
	four, six := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	for _, c := range []struct {
		listen    string
		addresses []netip.Addr
		want      string
	}{
		{"127.0.0.1:1883", []netip.Addr{four}, "127.0.0.1:1883"},
		{"localhost:1883", []netip.Addr{four}, "localhost:1883"},
		{"192.0.2.7:1883", []netip.Addr{four}, "192.0.2.7:1883"},
		{"0.0.0.0:1883", []netip.Addr{four, six}, "192.0.2.1:1883"},
		{"0.0.0.0:1883", []netip.Addr{six}, "0.0.0.0:1883"}, // nothing listens there
		{"[::]:1883", []netip.Addr{four, six}, "192.0.2.1:1883"},
		{":1883", []netip.Addr{six}, "[2001:db8::1]:1883"},
		{"[::]:1883", nil, "[::]:1883"},
	} {
		if got := reached(c.listen, c.addresses); got != c.want {
			t.Errorf("%s of %v: %s, want %s", c.listen, c.addresses, got, c.want)
		}
	}
}
