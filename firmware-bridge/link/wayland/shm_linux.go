package wayland

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// memory makes an unnamed file of the given size, to which the compositor may write.
func memory(size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("locket", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "memfd")
	if err := file.Truncate(size); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// sendWith sends b, together with file unless it is nil.
func sendWith(conn *net.UnixConn, b []byte, file *os.File) error {
	if file == nil {
		_, err := conn.Write(b)
		return err
	}
	_, _, err := conn.WriteMsgUnix(b, unix.UnixRights(int(file.Fd())), nil)
	return err
}

// Peer returns the process that listens at the other end of conn; 0: it is not known.
func Peer(conn *net.UnixConn) (pid int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0
	}
	err = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	if err != nil {
		return 0
	}
	return pid
}
