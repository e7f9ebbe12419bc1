// Package fewfiles is a listener of a process that has no file descriptors left for a while.
package fewfiles

import (
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// Listener fails twice, and then accepts connections.
type Listener struct {
	net.Listener
	failed atomic.Int32
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	if l.failed.Add(1) <= 2 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}
