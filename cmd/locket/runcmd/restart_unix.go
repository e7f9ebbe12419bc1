//go:build unix

package runcmd

import (
	"fmt"
	"os"
	"syscall"
)

// restart replaces this process: the system takes its memory away, and keeps
// its number, its output, and whoever waits for it.
func restart(args, environ []string) error {
	self, err := os.Executable()
	if err == nil {
		err = syscall.Exec(self, append([]string{os.Args[0]}, args...), environ)
	}
	return fmt.Errorf("begin anew: %w", err)
}
