//go:build unix

package jail

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Begin must be called before anything from a stranger is read.
func Begin() error {
	return errors.Join(
		limit("core", unix.RLIMIT_CORE, 0),
		limit("address space", unix.RLIMIT_AS, maxAddress),
		limit("data", unix.RLIMIT_DATA, MaxData),
		limit("processor time", unix.RLIMIT_CPU, MaxCPU),
		noNewPrivileges())
}

// Confine must be called before a plugin's code runs. If the kernel has no
// seccomp, for example under an emulator, the report says so.
func Confine() (Report, error) {
	// The runtime must now create what it otherwise creates on first use: the descriptors of its
	// timers. A fixed number of processors also stops it from reading those of the control group.
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
