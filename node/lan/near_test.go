package lan

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// piped is a listener that one caller in the network has reached.
type piped struct {
	net.Listener
	conn net.Conn
}

type pipedConn struct{ net.Conn }

func (p piped) Accept() (net.Conn, error) { return pipedConn{p.conn}, nil }
func (pipedConn) RemoteAddr() net.Addr    { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// A peer that reads nothing of an answer is disconnected. One that reads slowly is not, and
// a deadline that the server sets is kept.
func TestThreatAnswersUnreadInTheNetwork(t *testing.T) {
	for name, test := range map[string]struct {
		every time.Duration // between two reads; 0: none
		until time.Duration // of the server's own deadline; 0: none
		ends  time.Duration // 0: never
	}{
		"reads nothing":        {ends: writeWait},
		"reads slowly":         {every: writeWait - time.Second},
		"the server's is less": {until: time.Second, ends: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				c, err := OnlyNearby(piped{conn: here}).Accept()
				if err != nil {
					t.Fatal(err)
				}
				var reads sync.WaitGroup
				defer reads.Wait()
				defer c.Close()
				began := time.Now()
				if test.until > 0 {
					if err := c.SetWriteDeadline(began.Add(test.until)); err != nil {
						t.Fatal(err)
					}
				}
				reads.Go(func() {
					var err error
					for b := make([]byte, 1<<10); test.every > 0 && err == nil; _, err = there.Read(b) {
						time.Sleep(test.every)
					}
				})
				for range 10 {
					if _, err := c.Write(make([]byte, 1<<10)); err != nil {
						if !errors.Is(err, os.ErrDeadlineExceeded) || test.ends == 0 || time.Since(began) != test.ends {
							t.Errorf("after %s: %v", time.Since(began), err)
						}
						return
					}
				}
				if test.ends > 0 {
					t.Error("the connection still works, although it had to be ended")
				}
			})
		})
	}
}

// One address in the network may hold a limited number of connections; its oldest one makes
// room for a new one. A member's connection never makes room for a stranger's.
func TestThreatConnectionsHeldInTheNetwork(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ConnContext: WithConn, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m := r.Header.Get("Member"); m != "" {
			MarkKnown(r.Context(), m)
		}
		io.WriteString(w, "served")
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(OnlyNearby(ln)) }()
	defer func() {
		server.Close()
		<-done
	}()
	again := func(c net.Conn, member string) error {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nMember: "+member+"\r\n\r\n") // it may have ended
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		return err
	}
	ask := func(from byte, member string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
		c, err := d.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal("the test needs several addresses of 127.0.0.0/8, as Linux has them: ", err)
		}
		t.Cleanup(func() { c.Close() })
		if err := again(c, member); err != nil {
			t.Error("it is not served: ", err)
		}
		return c
	}
	other := ask(3, "")
	var members, held []net.Conn
	for range maxConnsOf {
		members = append(members, ask(2, "phone"))
	}
	for range 3 * maxConnsOf {
		held = append(held, ask(2, ""))
	}
	for i, c := range held {
		if err := again(c, ""); (err == nil) != (i >= 2*maxConnsOf) {
			t.Errorf("connection %d of one address: %v", i, err)
		}
	}
	for from := range byte(2 * maxStrangers / maxConnsOf) {
		for range maxConnsOf {
			ask(100+from, "")
		}
	}
	for _, c := range append(members, other) {
		if err := again(c, ""); err != nil {
			t.Error("it gave way to strangers: ", err)
		}
	}
	ask(4, "phone")
	ask(4, "tablet")
	for i, c := range members {
		if err := again(c, "phone"); (err == nil) != (i > 0) {
			t.Errorf("connection %d of a member that has one more: %v", i, err)
		}
	}
}
