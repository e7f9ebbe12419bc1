//go:build unix

package cutoff_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/internal/cutoff"
	"github.com/locket-dev/locket/internal/testing/narrow"
)

// stuckAfter is how many bytes a stuck connection accepts, and the size of its receive buffer.
const stuckAfter = 8 << 10

// stuck is a listener whose connections accept stuckAfter bytes, and the rest once free is closed.
type stuck struct {
	net.Listener
	took        atomic.Int64 // bytes, of all connections
	began, free chan struct{}
	once        sync.Once // closes began
}

func (l *stuck) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &stuckConn{c, l}, err
}

type stuckConn struct {
	net.Conn
	of *stuck
}

func (c *stuckConn) Read(b []byte) (int, error) {
	if c.of.took.Load() >= stuckAfter {
		c.of.once.Do(func() { close(c.of.began) })
		<-c.of.free
	}
	n, err := c.Conn.Read(b)
	c.of.took.Add(int64(n))
	return n, err
}

func newStuck(t *testing.T) *stuck {
	t.Helper()
	return &stuck{Listener: narrow.Listen(t, stuckAfter), began: make(chan struct{}), free: make(chan struct{})}
}

// A cancelled upload over TLS is reset, even with a server that offers HTTP/2: what the system
// still had to send is not sent.
func TestCancelResetsUpload(t *testing.T) {
	t.Parallel()
	line := newStuck(t)
	ended := make(chan error, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	}))
	server.Listener.Close()
	server.Listener, server.EnableHTTP2 = line, true
	server.StartTLS()
	defer server.Close()

	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	transport := cutoff.Transport.(*http.Transport).Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{}
	}
	transport.TLSClientConfig.RootCAs = trusted
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewReader(make([]byte, 16<<20)))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-line.began
		cancel()
	}()
	if resp, err := transport.RoundTrip(req); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, %v: want it cancelled", resp, err)
	}
	close(line.free)
	if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the upload ended with %v, want a reset connection", err)
	}
	if got := line.took.Load(); got > 6*stuckAfter { // what came before, and is in the receiver's buffer
		t.Errorf("%d bytes came: it went on after the cancel", got)
	}
}
