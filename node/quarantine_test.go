package node

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory/store"
)

// Invalid messages of a wearable push out only its own: what another wearable sent, and
// what the node noted itself, can still be looked at.
func TestThreatQuarantineFilled(t *testing.T) {
	n := newNode(t, nil)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	sends := func(device string, times int, leaf, payload string) {
		t.Helper()
		cred, err := n.AddDevice(t.Context(), device)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", n.broker.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		text := func(b []byte, s string) []byte { return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...) }
		packet := func(head byte, b []byte) {
			t.Helper()
			if _, err := c.Write(append(binary.AppendUvarint([]byte{head}, uint64(len(b))), b...)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, make([]byte, 4)); err != nil { // CONNACK or PUBACK
				t.Fatal(err)
			}
		}
		packet(0x10, text(text(text(append(text(nil, "MQTT"), 4, 0xc2, 0, 60), device), device), string(cred.Password)))
		for i := range times {
			packet(0x32, append(binary.BigEndian.AppendUint16(text(nil, "locket/v1/"+device+"/"+leaf), uint16(1+i%1000)), payload...))
		}
	}
	sends("pin", 2, "text", "this is no message")
	sends("glasses", store.MaxQuarantined+100, "text", "this neither")
	sends("ring", 1, "text", "nor this")
	if err := n.waitProcessed(t.Context()); err != nil {
		t.Fatal(err)
	}
	of := map[string]uint64{}
	list, err := n.Quarantine(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range list {
		device, _, _ := strings.Cut(q.Source, "/")
		of[device] += q.Count
	}
	if of["pin"] != 2 || of["ring"] != 1 || of["glasses"] != store.MaxQuarantined-3 {
		t.Errorf("kept: %v", of)
	}
}
