// Package length computes the lengths of padded and sealed data. It has no
// keys, so that code which only checks lengths does not need the code for keys.
package length

import "math/bits"

const (
	// Least is the least length after padding, in bytes.
	Least = 256
	// Chunk is how many bytes of plaintext of a stream are sealed at a time.
	// Overhead is how many bytes the seal of a chunk adds.
	Chunk    = 64 << 10
	Overhead = 16
)

// Padded returns the length to which n bytes are padded before they are sealed,
// so that the sealed length reveals little about n. It is the length of Padmé,
// and at least [Least]. Padmé adds at most 12 % and has few different lengths,
// which reveal O(log log n) bits (Nikitin et al., "Reducing Metadata Leakage
// from Encrypted Files and Communication with PURBs", 2019).
func Padded(n int64) int64 {
	if n <= Least {
		return Least
	}
	e := bits.Len64(uint64(n)) - 1
	s := bits.Len(uint(e))
	mask := int64(1)<<(e-s) - 1
	return (n + mask) &^ mask
}

// Stream returns the sealed length of a stream (package seal) of n bytes.
func Stream(n int64) int64 {
	return n + max(1, (n+Chunk-1)/Chunk)*Overhead
}
