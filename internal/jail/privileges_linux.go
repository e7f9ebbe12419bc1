package jail

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const hasNoNewPrivileges = true

// noNewPrivileges applies to this thread and the threads that it starts. The
// filter extends it to all others.
func noNewPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("jail: no new privileges: %w", err)
	}
	return nil
}
