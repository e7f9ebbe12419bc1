// Package length tells how long things become when they are padded and sealed.
// It knows no keys, so that who checks what others say of lengths needs none.
package length

import "math/bits"

const (
	// Least is the shortest that is padded.
	Least = 256
	// Chunk is how many bytes of plaintext are sealed at a time in a stream,
	// and Overhead how many more that takes.
	Chunk    = 64 << 10
	Overhead = 16
)

// Padded gives the length to which n bytes are padded before they are sealed,
// where who sees the sealed form is to learn little of n: Padmé's, at most 12 %
// more, and few lengths, so that one tells O(log log n) bits (Nikitin et al.,
// "Reducing Metadata Leakage from Encrypted Files and Communication with PURBs",
// 2019); at least [Least].
func Padded(n int64) int64 {
	if n <= Least {
		return Least
	}
	e := bits.Len64(uint64(n)) - 1
	s := bits.Len(uint(e))
	mask := int64(1)<<(e-s) - 1
	return (n + mask) &^ mask
}

// Stream gives how many bytes a stream (package seal) of n has when it is sealed.
func Stream(n int64) int64 {
	return n + max(1, (n+Chunk-1)/Chunk)*Overhead
}
