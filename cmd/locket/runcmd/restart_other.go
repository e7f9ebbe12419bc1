//go:build !unix

package runcmd

import "errors"

// restart can't be here: a process is never replaced.
func restart([]string, []string) error { return errors.ErrUnsupported }
