package store

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store/badgerfile"
)

// A store that was killed leaves up to three logs, of which Badger makes tables when it
// opens them for writing. Where a full disk has no room for that, the store is opened for
// reading alone: its logs are read into memory. Everything can be read then, and Update
// returns [memory.ErrNoSpace]. The first call of Update or MaintainCompaction that finds room opens the
// store for writing. Until the process ends, the system keeps the space of the
// logs, 4 MB each, because Badger leaves them mapped.

// readBadger opens a database for reading alone. The caller has called [checkFiles].
func readBadger(dir string, key []byte, small bool, log *slog.Logger) (*badger.DB, error) {
	if err := errors.Join(badgerfile.RemoveLogsWithoutHeader(dir), badgerfile.CutLogs(dir)); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return openUnder(dir, sized(badgerOptions(dir, key), small).WithReadOnly(true).WithLogger(badgerLog{log}))
}

// openRoomy opens the records for writing, or for reading alone if the disk has no room.
func (s *Store) openRoomy(dir string) (*badger.DB, error) {
	if s.full == nil {
		return openBadger(dir, s.secrets.disk, s.opt.Small, s.compacts, s.opt.Log)
	}
	db, err := readBadger(dir, s.secrets.disk, s.opt.Small, s.opt.Log)
	if err != nil { // as where there are no records yet
		return nil, fmt.Errorf("%w; and it can't be opened read-only: %w", s.full, err)
	}
	s.opt.Log.Warn("store: the disk is full: memories can be read, and nothing is written until there is room", "error", s.full)
	return db, nil
}

// startWriting opens for writing what is open for reading alone, if there is room by now.
// Otherwise it returns [memory.ErrNoSpace]. The caller has the writer's token and no other
// lock. lock takes s.mu, or returns false if it does not; no reader waits for the lock if there is
// no room.
func (s *Store) startWriting(lock func() bool) error {
	if err := s.roomToWrite(); err != nil {
		return err
	}
	if !lock() {
		return nil
	}
	turned, err := s.turnWriting()
	s.mu.Unlock()
	if err != nil || !turned {
		return err
	}
	s.opt.Log.Info("store: the disk has room again, so the store is written again")
	return s.followRules()
}

// lockAll waits until nobody reads.
func (s *Store) lockAll() bool {
	s.mu.Lock()
	return true
}

// turnWriting is startWriting for a caller that holds all locks.
func (s *Store) turnWriting() (turned bool, err error) {
	if s.closed || s.full == nil {
		return false, nil
	}
	if err := s.roomToWrite(); err != nil {
		return false, err
	}
	was := s.full
	if err := s.db.Close(); err != nil {
		return false, errors.Join(fmt.Errorf("store: close to open for writing: %w", err), s.reopen(was))
	}
	s.full = nil
	if err := s.reopen(was); err != nil {
		return false, err
	}
	if err := errors.Join(s.keepSpare(), s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(&s.state.head))); err != nil {
		return true, fmt.Errorf("store: open for writing: %w", err)
	}
	return true, nil
}

// roomToWrite reports whether there is room to open for writing and to write.
func (s *Store) roomToWrite() error {
	if err := s.roomToOpen(); err != nil {
		return err
	}
	return s.roomAbove(min(s.opt.Reserve, leastRoom), 0)
}

// isFull reports whether the store is open for reading alone.
func (s *Store) isFull() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.full != nil
}

// findRoom is roomToOpen for Open: an error is one that is not about the room.
func (s *Store) findRoom() error {
	err := s.roomToOpen()
	if errors.Is(err, memory.ErrNoSpace) {
		s.full, err = err, nil
	}
	return err
}
