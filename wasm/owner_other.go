//go:build !unix

package wasm

import "io/fs"

// owned reports whether a file is this user's. On this system, the folder's access list decides
// that.
func owned(fs.FileInfo) bool { return true }

// rootOwns reports whether a file is root's. On this system, no folder is trusted because of its
// owner.
func rootOwns(fs.FileInfo) bool { return false }
