//go:build !unix

package keyring

// syncDir does nothing: folders can't be synced here.
func syncDir(string) error { return nil }
