//go:build !linux

package wayland

import (
	"errors"
	"net"
	"os"
)

// memory makes an unnamed file; here there is no compositor that would write to it.
func memory(int64) (*os.File, error) { return nil, errors.ErrUnsupported }

func sendWith(conn *net.UnixConn, b []byte, file *os.File) error {
	if file != nil {
		return errors.ErrUnsupported
	}
	_, err := conn.Write(b)
	return err
}

// Peer returns the process that listens at the other end of conn; 0: it is not known.
func Peer(*net.UnixConn) (pid int) { return 0 }
