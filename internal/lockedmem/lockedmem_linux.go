package lockedmem

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newPage returns memory even if it could not be locked, with the reason.
func newPage(size int) ([]byte, error) {
	size = max(size, os.Getpagesize())
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return make([]byte, pageSlots*Size), fmt.Errorf("memory for keys: %w", err)
	}
	var errs []error
	if err := unix.Mlock(b); err != nil {
		errs = append(errs, fmt.Errorf("memory for keys may be written to swap: %w", err))
	}
	if err := unix.Madvise(b, unix.MADV_DONTDUMP); err != nil {
		errs = append(errs, fmt.Errorf("memory for keys may be in a dump: %w", err))
	}
	return b[:pageSlots*Size], errors.Join(errs...)
}
