//go:build !unix

package runcmd

import "errors"

// restart is not supported here: the system cannot replace a process.
func restart([]string, []string) error { return errors.ErrUnsupported }
