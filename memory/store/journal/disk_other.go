//go:build !unix && !windows

package journal

// isFull tells the errors of a full disk, which have no one name here.
func isFull(error) bool { return false }
