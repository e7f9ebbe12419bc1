package store

import (
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// DefaultReserve is the free space that the store leaves alone, in bytes.
// Badger maps its write-ahead logs into memory, and dies of SIGBUS when a page
// of one can't be had: the reserve is several times what it lays out ahead
// (three logs of twice the memtable's 4 MB, a value log of 2 MB, one table).
const DefaultReserve = 64 << 20

// openNeeds is what Badger lays out when it opens, and a table or two: a store
// opens below the reserve, so that it can be read and closed in order.
const openNeeds = 32 << 20

// roomAbove fails with [memory.ErrNoSpace] unless need bytes fit above a reserve.
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
