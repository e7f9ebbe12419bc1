// Package accept accepts connections.
package accept

import (
	"errors"
	"net"
	"time"

	"github.com/locket-dev/locket/internal/retry"
)

// Next returns the next connection of a listener. If there is none because no more files can be open
// (EMFILE, ENFILE), it waits and tries again, as net/http does: somebody who opens many connections
// must not end the server.
func Next(l net.Listener) (net.Conn, error) {
	pace := retry.Backoff{First: 5 * time.Millisecond, Most: time.Second}
	for {
		c, err := l.Accept()
		var passing interface{ Temporary() bool }
		if err == nil || !errors.As(err, &passing) || !passing.Temporary() {
			return c, err
		}
		time.Sleep(pace.Next()) // a listener has no context; once it is closed, Accept fails for good
	}
}
