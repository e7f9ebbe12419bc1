//go:build unix

package runcmd

import (
	"fmt"
	"os"
	"syscall"
)

// restart replaces this process. The system discards its memory, and keeps its process id, its
// output, and its parent.
func restart(args, environ []string) error {
	self, err := os.Executable()
	if err == nil {
		err = syscall.Exec(self, append([]string{os.Args[0]}, args...), environ)
	}
	return fmt.Errorf("restart: %w", err)
}
