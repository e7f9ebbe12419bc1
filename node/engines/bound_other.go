//go:build !unix

package engines

import "os/exec"

// bound does nothing where there are no limits of this kind.
func bound() error { return nil }

func apart(*exec.Cmd) {}
