//go:build !wasip1

// Package guest is what a Locket plugin in Go links; see guest.go, which is
// built for GOOS=wasip1 alone.
package guest
