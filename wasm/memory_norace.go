//go:build !race || !linux

package wasm

import "context"

// withOwnMemory changes nothing: without the race detector, memory in Go's heap costs less.
func withOwnMemory(ctx context.Context) context.Context { return ctx }
