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

// immediate is the signal that makes the server end at once, without a
// checkpoint.
const immediate = syscall.SIGQUIT

// other returns the user as which the server runs if the tests run as root.
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

// chown changes the owner of dir to the server's user.
func chown(dir string) error {
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
	if uid, gid, err := other(); err == nil { // give returned this error before
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
}

// run starts cmd so that it is killed when this process ends, and closes
// ended when cmd has ended. The starting thread must stay alive, because the
// kernel watches that thread.
func run(cmd *exec.Cmd, ended chan struct{}) error {
	started := make(chan error)
	endWithParent(cmd)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the process was killed, so there is an error
			close(ended)
		}
	}()
	return <-started
}
