package api_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
)

// A client that sends a byte now and then is disconnected in time, in head and body alike, and so
// is one that sends nothing.
func TestSlowClients(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.Head, c.Idle = 2*time.Second, 2*time.Second })
	h := s.settle("slow")
	r := s.owner(h, "POST", "/deltas")
	r.body = make([]byte, 10<<10) // more than what comes before the handler
	var whole bytes.Buffer
	s.ok(r.request(t, s.addr).Write(&whole))
	head := bytes.Index(whole.Bytes(), []byte("\r\n\r\n"))
	t.Run("each", func(t *testing.T) { // it ends once all have ended
		for name, sent := range map[string]int{"nothing": 0, "half a head": head / 2, "half a body": head + 4 + 8<<10 + 512} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := drip(t, s.addr, whole.Bytes(), sent)
				if slow := bytes.Contains(b, []byte("too slowly")); slow != (sent > head) {
					t.Errorf("%q", b)
				}
			})
		}
	})
	s.send(h, h.Owner, "and others are served")
}

// A client that sends most of a body and then nothing is disconnected soon, however long the whole
// might take, because it holds memory and a connection.
func TestStalledBody(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.Head = time.Second })
	h := s.settle("stalls")
	r := s.member(h, h.Owner, "POST", "/deltas")
	r.body = make([]byte, 1<<20) // it may take two minutes to come
	c := s.stall(t, r, len(r.body)-1)
	s.ok(c.SetReadDeadline(time.Now().Add(40 * time.Second)))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the relay still waits")
	}
}

// drip sends the first bytes of a request at once, if any, and then one byte at a time, so that no
// single read times out. It returns what comes until the relay hangs up.
func drip(t *testing.T, addr string, whole []byte, sent int) []byte {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(whole[:sent]); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for i := sent; sent > 0 && i < len(whole); i++ {
			<-tick.C
			if _, err := c.Write(whole[i : i+1]); err != nil {
				return
			}
		}
	}()
	b, _ := io.ReadAll(c) // it may end in an error: a reset can overtake the answer
	c.Close()
	<-done
	return b
}

// askHealth asks whether the relay runs, and leaves the connection open.
func askHealth(c net.Conn) error {
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// A request that gives the length of its body twice gets 400, and nothing after it is read as a
// request, because a proxy before the relay may have taken that for the body.
func TestDuplicateContentLength(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.Idle = 2 * time.Second })
	const second = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, fields := range []string{
		"Content-Length: 34\r\nContent-Length: 0\r\n", "Content-Length: 0\r\ncontent-length: 0\r\n", "Content-Length: 0\nContent-Length: 0\r\n", "Content-Length: 34\r\nTransfer-Encoding: identity\r\n",
		"Transfer-Encoding: chunked\r\nContent-Length: 34\r\n", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
	} {
		c, err := net.Dial("tcp", s.addr)
		s.ok(err)
		_, err = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n"+fields+"\r\n"+second)
		s.ok(err)
		b, _ := io.ReadAll(c) // it may end in an error: a reset can overtake the end of the answer
		c.Close()
		if !bytes.HasPrefix(b, []byte("HTTP/1.1 400 ")) || bytes.Count(b, []byte("HTTP/1.1 ")) != 1 {
			t.Errorf("%q: %q", fields, b)
		}
	}
	c, err := net.Dial("tcp", s.addr)
	s.ok(err)
	defer c.Close()
	s.ok(askHealth(c))
	s.ok(askHealth(c))
}

// A connection beyond the limit is closed, and the others are still served.
func TestConnectionsAreBounded(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) { c.MaxConns = 2 })
	var held []net.Conn
	for i := range 3 {
		c, err := net.Dial("tcp", s.addr)
		s.ok(err)
		held = append(held, c)
		if err := askHealth(c); (err == nil) != (i < 2) {
			t.Fatal(i, err)
		}
	}
	s.ok(askHealth(held[0]))
	for _, c := range held {
		c.Close()
	}
}
