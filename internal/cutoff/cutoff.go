// Package cutoff makes connections that end at once when they are closed. The system
// otherwise goes on to send what was written to a connection before, which on a slow line
// may be a whole recording, also after the process that wrote it was killed.
package cutoff

import (
	"context"
	"net"
	"net/http"
	"time"
)

// As http.DefaultTransport has them.
const (
	dialTime  = 30 * time.Second
	keepAlive = 30 * time.Second
)

// Dial connects. Closing the connection resets it: what the system has not sent by then, it
// does not send. Whoever has nothing left to send can have it closed the usual way by [Gently].
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTime, KeepAlive: keepAlive}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	linger(c, 0)
	return c, nil
}

// Gently has a connection closed the usual way from now on.
func Gently(c net.Conn) { linger(c, -1) }

// linger sets SO_LINGER. A connection that is not of TCP has no such thing, and one of which
// setting it fails is broken.
func linger(c net.Conn, seconds int) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(seconds)
	}
}

// Transport is http.DefaultTransport with connections of [Dial]. It speaks HTTP/1 alone, in
// which a request that is cancelled closes its connection. One of HTTP/2 stays open for
// other requests, and what was written to it goes out.
var Transport = transport()

func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = Dial
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.TLSClientConfig = nil // the default's offers HTTP/2, whatever Protocols says
	return t
}
