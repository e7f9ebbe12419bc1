//go:build !linux && !darwin

package lockedmem

import "errors"

// newPage returns memory like any other.
func newPage(size int) ([]byte, error) {
	return make([]byte, size), errors.New("memory for keys may be written to swap: no way to prevent that is known on this system")
}
