package lockedmem

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newPage returns memory even if it could not be locked, with the reason. This system has no way to
// exclude it from a dump, but package nodump turns dumps off.
func newPage(size int) ([]byte, error) {
	size = max(size, os.Getpagesize())
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return make([]byte, pageSlots*Size), fmt.Errorf("memory for keys: %w", err)
	}
	if err := unix.Mlock(b); err != nil {
		err = fmt.Errorf("memory for keys may be written to swap: %w", err)
		return b[:pageSlots*Size], err
	}
	return b[:pageSlots*Size], nil
}
