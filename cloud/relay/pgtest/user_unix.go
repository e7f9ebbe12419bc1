//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
)

// immediate is what makes the server end at once, without a checkpoint.
const immediate = syscall.SIGQUIT

// other is who the server runs as where the tests are root's.
func other() (uid, gid uint32, err error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return 0, 0, fmt.Errorf("PostgreSQL does not run as root, and there is no other user: %w", err)
		}
	}
	i, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, 0, err
	}
	g, err := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(i), uint32(g), err
}

// give makes dir the server's.
func give(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := other()
	if err != nil {
		return err
	}
	return os.Chown(dir, int(uid), int(gid))
}

func dropRoot(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() != 0 {
		return
	}
	if uid, gid, err := other(); err == nil { // give has said so otherwise
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
}

// run starts cmd so that it ends with this process, and closes ended when it
// has. What starts it must stay on its thread: the kernel goes by that.
func run(cmd *exec.Cmd, ended chan struct{}) error {
	started := make(chan error)
	endWithParent(cmd)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // killed
			close(ended)
		}
	}()
	return <-started
}
