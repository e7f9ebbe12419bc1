//go:build !linux

package memtrim

// releaseMapped does nothing on this system.
func releaseMapped(string) {}
