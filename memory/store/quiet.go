package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
)

// Badger's compactors look for work 20 times a second each. In a home where
// nothing happens this takes two thirds of the processor time, and wakes the
// processor 160 times a second. So the store is opened without compactors, and
// opened again with them when tables wait to be compacted. [Store.MaintainCompaction] ends that.
// A small store leaves it to [Store.FlushAndCompact] and MaintainCompaction for as long as it can.

// Tables on level 0. Badger compacts them from fewTables on, and lets no
// transaction commit from 15 on, so that the store may not wait for readers any
// longer at manyTables.
const (
	fewTables  = 5
	manyTables = 10
)

// tablesWaiting is how many tables are on level 0, to which memtables are written.
func tablesWaiting(db *badger.DB) int { return db.Levels()[0].NumTables }

// settled reports whether Badger has nothing to compact.
func settled(db *badger.DB) bool {
	return !slices.ContainsFunc(db.Levels(), func(l badger.LevelInfo) bool {
		return l.Level == 0 && l.NumTables >= fewTables || l.Adjusted >= 1
	})
}

// startCompactors starts the compactors if they are needed. The caller has the writer's
// token and no other lock.
func (s *Store) startCompactors() error {
	s.mu.RLock()
	waiting := 0
	if !s.closed && !s.compacts && s.full == nil {
		waiting = tablesWaiting(s.db)
	}
	s.mu.RUnlock()
	switch {
	case waiting < fewTables || s.opt.Small && waiting < manyTables:
		return nil
	case waiting >= manyTables:
		s.mu.Lock()
	case !s.mu.TryLock(): // readers are not made to wait yet
		return nil
	}
	defer s.mu.Unlock()
	if err := s.roomToCompact(); err != nil {
		if waiting < manyTables { // and Badger takes more
			return nil
		}
		return err
	}
	return s.turnCompactors(true)
}

// fewCommits between two calls of MaintainCompaction are no reason to keep the compactors.
const fewCommits = 64

// MaintainCompaction starts the compactors if tables wait, and stops them if little was written
// since the last call and nothing is to be compacted. It is meant to be called about once a minute. If somebody
// reads or writes, or the disk has no room for it, it does nothing. A store that is open for
// reading alone is opened for writing where there is room.
func (s *Store) MaintainCompaction() error {
	select {
	case <-s.writer:
	default:
		return nil
	}
	defer func() { s.writer <- struct{}{} }()
	if s.isFull() {
		if err := s.startWriting(s.mu.TryLock); !errors.Is(err, memory.ErrNoSpace) {
			return err
		}
		return nil
	}
	if !s.mu.TryLock() {
		return nil
	}
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if !s.compacts {
		if tablesWaiting(s.db) < fewTables || s.roomToCompact() != nil {
			return nil
		}
		return s.turnCompactors(true)
	}
	now := s.state.head.Generation
	calm := now-s.rested < fewCommits
	s.rested = now
	if !calm || !settled(s.db) || s.roomAbove(0, 2*tableNeeds) != nil { // closing makes a table
		return nil
	}
	return s.turnCompactors(false)
}

// settleEvery is how often FlushAndCompact looks whether all is compacted.
const settleEvery = 10 * time.Millisecond

// settleWithin is how long nothing is written while FlushAndCompact waits. Compaction ends in
// seconds, and never where it fails, as on a full disk.
const settleWithin = 30 * time.Second

var errOverdue = errors.New("store: tables are not compacted yet; is the disk full?")

// NeedsFlush reports whether a small store would soon write its memtable to a table by
// itself, which takes up to 20 MB at a time when the caller may hold as much.
func (s *Store) NeedsFlush() bool { return s.opt.Small && s.wrote.Load() >= memTable*3/4 }

// FlushAndCompact writes the memtable of a small store to a table. If tables wait it also has
// them compacted, and returns when none waits any more. Nothing is written meanwhile.
// This takes up to 40 MB, so whoever writes much with little memory calls
// it when it holds little else. It returns [memory.ErrNoSpace] if the disk has no room
// for it. After 30 s it gives up with an error; then MaintainCompaction stops
// the compactors when they are done, and until then FlushAndCompact does nothing.
func (s *Store) FlushAndCompact(ctx context.Context) error { return s.settle(ctx, settleWithin) }

func (s *Store) settle(ctx context.Context, within time.Duration) error {
	if !s.opt.Small {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.writer:
	}
	defer func() { s.writer <- struct{}{} }()
	if s.isFull() {
		return s.startWriting(s.lockAll)
	}
	if s.isOverdue() {
		return nil
	}
	ctx, stop := context.WithTimeoutCause(ctx, within, errOverdue)
	defer stop()
	many, err := s.reopenIfMany()
	if err != nil || !many {
		return err
	}
	for !settled(s.db) { // only who holds the writer's token replaces db
		if !wait.For(ctx, settleEvery) {
			err := context.Cause(ctx) // MaintainCompaction stops them
			s.mu.Lock()
			defer s.mu.Unlock()
			s.overdue = errors.Is(err, errOverdue)
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turnCompactors(false)
}

func (s *Store) isOverdue() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.overdue
}

// reopenIfMany opens the records again, with compactors if tables wait.
func (s *Store) reopenIfMany() (many bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, ErrClosed
	}
	if err := s.roomToCompact(); err != nil {
		return false, err
	}
	many = tablesWaiting(s.db) >= fewTables-1 // and one that this makes
	return many, s.turnCompactors(many)
}

// turnCompactors opens the records again, with or without compactors. The caller
// holds all locks.
func (s *Store) turnCompactors(on bool) error {
	was := s.compacts
	s.compacts, s.overdue = on, s.overdue && on
	if err := s.db.Close(); err != nil {
		s.compacts = was
		return errors.Join(fmt.Errorf("store: close to open again: %w", err), s.reopen(nil))
	}
	if err := s.reopen(nil); err != nil {
		return err
	}
	if err := s.keepSpare(); err != nil {
		return fmt.Errorf("store: spare: %w", err)
	}
	return nil
}
