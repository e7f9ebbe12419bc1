//go:build !unix

package jail

// Begin does nothing on this system.
func Begin() error { return nil }

// Confine does nothing on this system. The plugin only has a process of its
// own.
func Confine() (Report, error) { return Report{}, nil }
