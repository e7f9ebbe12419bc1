//go:build !linux && !darwin

package nodump

// What is known here of dumps is what the administrator says.
func protect() error { return nil }

func allow() error { return nil }
