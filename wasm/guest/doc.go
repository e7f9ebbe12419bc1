//go:build !wasip1

// Package guest is the library for a Locket plugin in Go; see guest.go, which is only built for
// GOOS=wasip1.
package guest
