//go:build unix && !linux

package jail

const hasNoNewPrivileges = false

func noNewPrivileges() error { return nil }

// filter: seccomp is Linux's.
func filter() (bool, error) { return false, nil }
