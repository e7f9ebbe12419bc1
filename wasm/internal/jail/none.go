//go:build !unix

package jail

// Begin has nothing to take here.
func Begin() error { return nil }

// Confine has nothing to take here: the plugin has a process of its own, and
// that is all.
func Confine() (Report, error) { return Report{}, nil }
