//go:build unix && !linux

package jail

const hasNoNewPrivileges = false

func noNewPrivileges() error { return nil }

// filter does nothing, because only Linux has seccomp.
func filter() (bool, error) { return false, nil }
