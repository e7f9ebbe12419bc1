package link

import (
	"net"
	"net/http"
	"testing"

	"github.com/gorilla/websocket"
)

// caller is a device that has connected.
type caller struct {
	arrived
	gone bool
}

func (c *caller) hangUp() { c.gone = true }

// A device that arrives while the listening ends is sent away, because nobody would read from it.
func TestConnectionDuringShutdown(t *testing.T) {
	s := &Sockets{Listen: "127.0.0.1:0", Key: "key"}
	if _, err := s.Open(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	late := &caller{}
	s.arrive(late)
	if !late.gone {
		t.Error("a connection that arrived during shutdown was not ended")
	}
}

// Strangers open as many connections as they can, before and after the device comes. The device
// still gets in and stays connected, and the strangers hold few.
func TestThreatSocketsHeldByStrangers(t *testing.T) {
	s := &Sockets{Listen: "127.0.0.1:0", Key: "key"}
	at, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hold := func() (first net.Conn) {
		t.Helper()
		for range 300 {
			c, err := net.Dial("tcp", at.String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			if first == nil {
				first = c
			}
		}
		return first
	}
	first := hold()
	conn, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+at.String()+"/key/ws", http.Header{"Authorization": {"Bearer key"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	d, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hold()
	if n := <-d.Notifications(); n.Char != Opened {
		t.Errorf("%+v", n)
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte("here")); err != nil {
		t.Fatal(err)
	}
	if n := <-d.Notifications(); string(n.Data) != "here" {
		t.Errorf("%+v", n)
	}
	if _, err := first.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err == nil {
		if n, _ := first.Read(make([]byte, 1)); n > 0 {
			t.Error("the first of 600 is served still")
		}
	}
}
