//go:build unix

// Package narrow has servers that accept little at a time, so that the rest of what is sent waits
// at the sender.
package narrow

import (
	"net"
	"syscall"
	"testing"
)

// Listen listens on the loopback interface, with a receive buffer of size bytes for each
// connection. The caller closes the listener.
func Listen(t testing.TB, size int) net.Listener {
	t.Helper()
	small := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		if control := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, size)
		}); control != nil {
			return control
		}
		return err
	}}
	ln, err := small.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}
