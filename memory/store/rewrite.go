package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/diskspace"
)

// A rewrite copies every record into a new database, which then replaces the
// old one. Compaction and migration are rewrites. Only the present records
// survive it; all other content of the old files is lost. A crash at any point
// leaves either the old database or the new one.
//
//	records            the database
//	records.building   a copy that is being made, and may be incomplete
//	records.new        a complete copy
//	records.old        the database that it replaces
const (
	buildingName = recordsName + ".building"
	newName      = recordsName + ".new"
	oldName      = recordsName + ".old"
)

// finishSwap completes or undoes a rewrite that was interrupted.
func finishSwap(dir string) error {
	_, err := os.Stat(filepath.Join(dir, recordsName))
	for _, n := range []string{newName, oldName} { // the old database, if the copy is lost
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		err = os.Rename(filepath.Join(dir, n), filepath.Join(dir, recordsName))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // without any of them the store is empty
		return fmt.Errorf("store: finish rewrite: %w", err)
	}
	for _, n := range []string{buildingName, newName, oldName} {
		if err := os.RemoveAll(filepath.Join(dir, n)); err != nil {
			return fmt.Errorf("store: finish rewrite: %w", err)
		}
	}
	return atomicfile.SyncDir(dir)
}

// Compact rewrites the records, so that no file has anything that was replaced,
// deleted or erased. It waits for running transactions, blocks others, and
// needs as much free space as the records take; it may use the reserve, except
// for what a store needs to open. If the records are not those that were last
// written, it changes nothing and returns [memory.ErrDamaged]. After a failure
// the store continues with its records. Only if they can't be opened is the
// store closed, and its methods return [ErrClosed].
func (s *Store) Compact(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.writer:
	}
	defer func() { s.writer <- struct{}{} }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.turnWriting(); err != nil {
		return err
	}
	if s.closed {
		return ErrClosed
	}
	need, err := diskspace.Used(filepath.Join(s.opt.Dir, recordsName))
	if err != nil {
		return err
	}
	if err := s.roomAbove(min(s.opt.Reserve, leastRoom), need); err != nil {
		return err
	}
	if err := s.rewrite(ctx, nil); err != nil {
		if !s.closed { // either database may be in place now
			err = errors.Join(err, s.keepSpare())
		}
		return err
	}
	if err := s.keepSpare(); err != nil {
		return fmt.Errorf("store: spare: %w", err)
	}
	return s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(&s.state.head))
}

// rewrite copies the records through the steps. The caller holds all locks.
func (s *Store) rewrite(ctx context.Context, steps []step) (err error) {
	building := filepath.Join(s.opt.Dir, buildingName)
	if err := os.RemoveAll(building); err != nil {
		return fmt.Errorf("store: rewrite: %w", err)
	}
	target := &Store{opt: s.opt, secrets: s.secrets}
	target.opt.AnchorEvery = math.MaxUint64 // the old anchor is valid until the swap
	target.state.head = s.state.head
	if target.db, err = openBadger(building, s.secrets.disk, s.opt.Small, true, s.opt.Log); err != nil {
		return err
	}
	err = s.copyTo(ctx, target, steps)
	if err = errors.Join(err, target.db.Close()); err != nil {
		return errors.Join(err, os.RemoveAll(building))
	}
	if err := s.db.Close(); err != nil {
		return errors.Join(fmt.Errorf("store: rewrite: %w", err), s.reopen(nil))
	}
	swap := func(from, to string) error {
		if err := os.Rename(filepath.Join(s.opt.Dir, from), filepath.Join(s.opt.Dir, to)); err != nil {
			return fmt.Errorf("store: rewrite: %w", err)
		}
		return atomicfile.SyncDir(s.opt.Dir)
	}
	for _, names := range [][2]string{{buildingName, newName}, {recordsName, oldName}, {newName, recordsName}} {
		if err = swap(names[0], names[1]); err != nil {
			break // after a failed step, the next one could leave no database in place
		}
	}
	return errors.Join(err, s.reopen(nil))
}

// reopen opens the database that is in place after a rewrite, which may have
// failed. That is the old one or the copy; both have the same content. If there
// is none, or it can't be opened, the store is closed. The next Open then
// completes the renames, or says what is wrong. Where full is not nil and a database can't be opened for
// writing, it is opened for reading alone again, for that reason, and the error is returned.
func (s *Store) reopen(full error) error {
	err := finishSwap(s.opt.Dir)
	records := filepath.Join(s.opt.Dir, recordsName)
	if _, missing := os.Stat(records); missing != nil { // so that no empty database is made in its place
		return errors.Join(err, missing, s.end())
	}
	db, opens := s.openRoomy(records)
	if opens != nil && full != nil {
		s.full = full
		if reading, fails := s.openRoomy(records); fails == nil {
			db, err, opens = reading, errors.Join(err, opens), nil
		}
	}
	if opens != nil {
		return errors.Join(err, opens, s.end())
	}
	var st state
	reads := db.View(func(txn *badger.Txn) error {
		var found bool
		var err error
		if st.head, found, err = s.secrets.readHead(txn); err != nil || !found || st.head.Format == 0 {
			return err
		}
		return s.secrets.readBuckets(txn, &st)
	})
	if reads == nil && st.head.Generation < s.state.head.Generation {
		reads = fmt.Errorf("store: records at generation %d, %d was there: %w", st.head.Generation, s.state.head.Generation, ErrRolledBack)
	}
	if reads != nil {
		return errors.Join(err, reads, db.Close(), s.end())
	}
	s.db, s.state = db, st
	s.wrote.Store(0)
	return err
}

// Limits of one transaction of a copy.
const (
	copyRecords = 500
	copyBytes   = 200 << 10
)

func (s *Store) copyTo(ctx context.Context, target *Store, steps []step) error {
	var sums [bucketCount]digest
	var batch []entry
	size := 0
	flush := func() error {
		err := target.update(func(t *Tx) error {
			t.force = true
			for _, e := range batch {
				if err := t.put(e.key, e.plain); err != nil {
					return err
				}
			}
			return nil
		})
		batch, size = batch[:0], 0
		return err
	}
	emit := func(key, plain []byte) error {
		batch = append(batch, entry{key, plain})
		if size += len(plain); len(batch) >= copyRecords || size >= copyBytes {
			return flush()
		}
		return nil
	}
	for i := len(steps) - 1; i >= 0; i-- {
		record, next := steps[i].record, emit
		emit = func(key, plain []byte) error { return record(key, plain, next) }
	}
	err := s.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			key := it.Item().KeyCopy(nil)
			if k := kind(key[0]); k == kindHead || k == kindGuard {
				continue
			}
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return damaged(key, "can't be read: "+err.Error())
			}
			version, plain, err := s.secrets.open(key, value)
			if err != nil {
				return err
			}
			sums[s.secrets.guardKey(key)[1]].add(s.secrets.member(key, version, tagOf(value)))
			if err := emit(key, plain); err != nil {
				return err
			}
		}
		return flush()
	})
	if err != nil || s.state.head.Format == 0 {
		return err
	}
	for n := range sums {
		if !bytes.Equal(sums[n].bytes(), s.state.buckets[n].sum.bytes()) {
			return damaged(bucketKey(n), "holds other records than were last written")
		}
	}
	return nil
}
