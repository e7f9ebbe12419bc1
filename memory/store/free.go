package store

import (
	"fmt"
	"path/filepath"

	"github.com/locket-dev/locket/memory"
)

// DefaultReserve is the free space, in bytes, that the store does not use.
// Badger maps its write-ahead logs into memory, and is killed by SIGBUS if the
// disk has no room for one of their pages. The reserve is several times what
// Badger allocates in advance: three logs of twice the memtable's 4 MB, a value
// log of 2 MB, and one table.
const DefaultReserve = 64 << 20

// leastRoom is the free space, in bytes, without which nothing is written, not even to
// make room. It is what Badger allocates in advance, and one or two tables.
const leastRoom = 32 << 20

// tableNeeds is what a memtable takes as a table, in bytes: its 4 MB, a last transaction,
// and the table's index.
const tableNeeds = 5 << 20

// roomToOpen returns [memory.ErrNoSpace] if Badger would not find room to open the
// records: it makes a table of each log that a process has left, which is one, and three
// at most if it was killed. Much less room is needed than for writing, so that a
// store can be read, and closed properly, when others have filled the disk.
func (s *Store) roomToOpen() error {
	logs, err := filepath.Glob(filepath.Join(s.opt.Dir, recordsName, "*.mem"))
	if err != nil {
		return err
	}
	return s.roomAbove(0, min(s.opt.Reserve, leastRoom, uint64(len(logs)+1)*tableNeeds))
}

// roomToCompact returns [memory.ErrNoSpace] if a compaction might not find room. It writes
// the tables of level 0 and of the level below anew before it removes them, and Badger's
// memtable may become a table meanwhile. A compaction that finds the disk full is a
// SIGBUS, which ends the process.
func (s *Store) roomToCompact() error {
	need := uint64(2 * tableNeeds)
	for _, l := range s.db.Levels() {
		if l.Level == 0 || l.IsBaseLevel {
			need += uint64(l.Size)
		}
	}
	return s.roomAbove(0, need)
}

// roomAbove returns [memory.ErrNoSpace] unless need bytes are free in addition
// to the reserve.
func (s *Store) roomAbove(reserve, need uint64) error {
	free, err := s.opt.Free(s.opt.Dir)
	if err != nil {
		return err
	}
	if free < reserve+need {
		return fmt.Errorf("store: %d MB free, %d MB kept in reserve, %d MB needed: %w", free/1e6, reserve/1e6, (need+1e6-1)/1e6, memory.ErrNoSpace)
	}
	return nil
}
