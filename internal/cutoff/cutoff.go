// Package cutoff makes connections that end at once when they are closed. Otherwise the system goes
// on sending what was written to a connection before, which on a slow line may be a whole
// recording, even after the process that wrote it was killed.
package cutoff

import (
	"context"
	"net"
	"net/http"
	"time"
)

// The same values as in http.DefaultTransport.
const (
	dialTime  = 30 * time.Second
	keepAlive = 30 * time.Second
)

// Dial connects. Closing the connection resets it: the system does not send what it has not sent by
// then. If nothing is left to send, [Gently] makes it close in the usual way.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialTime, KeepAlive: keepAlive}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	linger(c, 0)
	return c, nil
}

// Gently makes a connection close in the usual way from now on.
func Gently(c net.Conn) { linger(c, -1) }

// linger sets SO_LINGER. Only a TCP connection has it, and if setting it fails, the connection is
// broken.
func linger(c net.Conn, seconds int) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(seconds)
	}
}

// Transport is http.DefaultTransport with connections of [Dial]. It only speaks HTTP/1, in which a
// cancelled request closes its connection. An HTTP/2 connection would stay open for other requests,
// and what was written to it would be sent.
var Transport = transport()

func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = Dial
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.TLSClientConfig = nil // that of the default offers HTTP/2, whatever Protocols says
	return t
}
