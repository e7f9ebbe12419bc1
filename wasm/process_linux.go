package wasm

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// apart puts the process into a group of its own: what a person types at the
// terminal is for its host.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// pipeSize is what an unprivileged process may have (pipe(7)); an event of
// 200 KB goes in one piece.
const pipeSize = 1 << 20

func widen(in io.WriteCloser, out io.ReadCloser) {
	for _, e := range []any{in, out} {
		if f, ok := e.(*os.File); ok {
			if c, err := f.SyscallConn(); err == nil {
				// A smaller pipe is slower, and that is all.
				_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
			}
		}
	}
}

// used is the processor time of the process so far; its clock's number is
// made of its id (clock_getcpuclockid(3)).
func (p *process) used() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|2), &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
