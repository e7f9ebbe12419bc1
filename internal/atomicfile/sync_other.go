//go:build !unix

package atomicfile

// SyncDir does nothing, because folders can't be synced on this system. NTFS
// has a log for names.
func SyncDir(string) error { return nil }
