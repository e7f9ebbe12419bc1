//go:build !unix

package engines

import "os/exec"

// bound does nothing, because there are no limits of this kind on this system.
func bound() error { return nil }

func ownProcessGroup(*exec.Cmd) {}
