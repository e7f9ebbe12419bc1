//go:build unix

package jail

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Begin is called before anything that a stranger wrote is read.
func Begin() error {
	return errors.Join(
		limit("core", unix.RLIMIT_CORE, 0),
		limit("address space", unix.RLIMIT_AS, maxAddress),
		limit("data", unix.RLIMIT_DATA, MaxData),
		limit("processor time", unix.RLIMIT_CPU, MaxCPU),
		noNewPrivileges())
}

// Confine is called before a plugin's code runs. Where the kernel has no
// seccomp, as under an emulator, the report says so.
func Confine() (Report, error) {
	// What the runtime makes when it is first needed, it has to have by now:
	// the descriptors of its timers. And it is not to look at the control
	// group's processors any more, which a fixed number of them ends.
	time.AfterFunc(time.Hour, func() {}).Stop()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	if err := errors.Join(limit("file size", unix.RLIMIT_FSIZE, 0), limit("descriptors", unix.RLIMIT_NOFILE, 0)); err != nil {
		return Report{}, err
	}
	r := Report{Limits: true, Privileges: hasNoNewPrivileges}
	var err error
	r.Seccomp, err = filter()
	return r, err
}

func limit(name string, which int, most uint64) error {
	var have unix.Rlimit
	if err := unix.Getrlimit(which, &have); err != nil {
		return fmt.Errorf("jail: limit of %s: %w", name, err)
	}
	want := most
	if hard := uint64(have.Max); hard < want {
		want = hard
	}
	set(&have, want)
	if err := unix.Setrlimit(which, &have); err != nil {
		return fmt.Errorf("jail: limit of %s: %w", name, err)
	}
	return nil
}
