package store

import (
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// DefaultReserve is the free space, in bytes, that the store does not use.
// Badger maps its write-ahead logs into memory, and is killed by SIGBUS if the
// disk has no room for one of their pages. The reserve is several times what
// Badger allocates in advance: three logs of twice the memtable's 4 MB, a value
// log of 2 MB, and one table.
const DefaultReserve = 64 << 20

// openNeeds is what Badger allocates when it opens, and one or two tables. A
// store can be opened below the reserve, so that it can be read and closed
// properly.
const openNeeds = 32 << 20

// roomAbove returns [memory.ErrNoSpace] unless need bytes are free in addition
// to the reserve.
func (s *Store) roomAbove(reserve, need uint64) error {
	free, err := s.opt.Free(s.opt.Dir)
	if err != nil {
		return err
	}
	if free < reserve+need {
		return fmt.Errorf("store: %d bytes free, %d kept in reserve: %w", free, reserve, memory.ErrNoSpace)
	}
	return nil
}
