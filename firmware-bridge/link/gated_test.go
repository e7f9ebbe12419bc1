package link

import (
	"net/netip"
	"testing"
)

// Only datagrams that the device itself may have sent use up its queue.
func TestDatagramsOfOthersAreDropped(t *testing.T) {
	d := &gated{remote: netip.MustParseAddr("192.168.1.7")}
	b := []byte{1, 0, 0, 1, 9, 8, 7, 6, 0}
	own := netip.MustParseAddrPort("[::ffff:192.168.1.7]:5000")
	if d.owns(own, b) {
		t.Error("a datagram before the session")
	}
	if err := d.Write(t.Context(), Session, b[4:8]); err != nil {
		t.Fatal(err)
	}
	if !d.owns(own, b) {
		t.Error("the device's own datagram is lost")
	}
	if d.owns(netip.MustParseAddrPort("192.168.1.8:5000"), b) || d.owns(own, b[:7]) || d.owns(own, []byte{1, 0, 0, 1, 9, 8, 7, 5, 0}) {
		t.Error("another's datagram is taken")
	}
	if d.Write(t.Context(), Session, b) == nil {
		t.Error("a session of nine bytes")
	}
}
