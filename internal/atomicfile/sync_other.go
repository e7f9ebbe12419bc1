//go:build !unix

package atomicfile

// SyncDir does nothing: a folder can't be synced here. NTFS keeps names in a
// log of its own.
func SyncDir(string) error { return nil }
