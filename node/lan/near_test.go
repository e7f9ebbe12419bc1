package lan

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// One address in the network holds so many connections, and the others are
// served; where it lets go, there is room again.
func TestThreatConnectionsHeldInTheNetwork(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "served") })}
	done := make(chan error, 1)
	go func() { done <- server.Serve(Near(ln)) }()
	defer func() {
		server.Close()
		<-done
	}()
	ask := func(from string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := d.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal("the test needs several addresses of 127.0.0.0/8, as Linux has them: ", err)
		}
		t.Cleanup(func() { c.Close() })
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // it may be refused before
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			err = res.Body.Close()
		}
		return c, err
	}
	var held []net.Conn
	for n := range 3 * maxConnsOfOne {
		c, err := ask("127.0.0.2")
		if (err == nil) != (n < maxConnsOfOne) {
			t.Fatalf("connection %d: %v", n, err)
		}
		held = append(held, c)
	}
	if _, err := ask("127.0.0.3"); err != nil {
		t.Error("another address is not served: ", err)
	}
	held[0].Close()
	for { // until the server has seen it
		if _, err := ask("127.0.0.2"); err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("there is no room again")
		}
	}
}
