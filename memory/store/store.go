// Package store keeps a node's memory on disk: assertions and what follows from
// them, utterances, blobs, index segments, and the node's small records. No
// other package imports Badger.
//
// The words:
//
//   - A record is a key and a value, which is pressed and sealed if there is
//     anything in it. The key's first byte is the record's kind.
//   - Each record belongs to one of 256 buckets, by a keyed hash of its key.
//     The digest of a bucket is the sum of its records' MACs. The head has the
//     sum of the buckets, the counters, and the format.
//   - Each record has a guard, which repeats its version. With the guards,
//     [Store.Verify] finds records that were replaced by an older version,
//     removed or added.
//   - The anchor is a small file beside the records. It shows whether all of
//     them together were replaced by an older state.
//   - A group is the assertions that are reconciled with each other.
//   - The document log numbers what recall has to index, in the order of the
//     changes.
//
// Only one process may have a store open. One transaction writes at a time, and
// readers see the state at their beginning. When Update returns, the
// transaction is on the disk.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/memory"
)

// Options are the options of a store. Dir and Key are required; [Tx.Assert]
// also needs Derive and Diff.
type Options struct {
	Dir string    // the store's own folder; made if there is none
	Key *seal.Key // the master key; may be erased after Open

	Derive func(group []memory.Assertion) []memory.Memory
	Diff   func(before, after []memory.Memory, cause memory.Assertion) []memory.Change

	Small       bool                             // use less memory and read more often
	Reserve     uint64                           // free bytes that are not used; 0: DefaultReserve
	Free        func(dir string) (uint64, error) // nil: as reported by the operating system
	AnchorEvery uint64                           // commits between two anchors; 0: 64
	Log         *slog.Logger                     // nil: nothing is logged
	OnPosted    func()                           // called after a commit that added to the outbox; must not block; may be nil

	// Accept opens the store although its anchor is missing, altered or newer,
	// and writes a new anchor. It is for an owner who has restored a backup.
	Accept bool
}

// ErrClosed: the store was closed.
var ErrClosed = errors.New("store is closed")

// Store is open until Close. Its methods are safe for concurrent use.
type Store struct {
	opt     Options
	secrets *secrets
	lock    *filelock.Lock
	writer  chan struct{} // holds one token; the goroutine that has taken it may write

	mu       sync.RWMutex // transactions hold it for reading; replacing db needs it for writing
	db       *badger.DB
	full     error                      // why db is open for reading alone; nil: it is written, too; guarded by mu, see reading.go
	compacts bool                       // db has compactors; guarded by mu, see quiet.go
	rested   uint64                     // generation at the last MaintainCompaction; guarded by the writer's token
	overdue  bool                       // FlushAndCompact gave up waiting for the compactors, which MaintainCompaction stops; guarded by mu
	wrote    atomic.Int64               // bytes that db's memtable has got since it was opened, about
	state    state                      // guarded by the writer's token
	lives    map[memory.MemberID]uint64 // guarded by the writer's token; see dot.go
	cold     hints
	lines    lineHints
	inflate  inflaters
	abouts   abouts
	closed   bool
	sound    bool // Open succeeded, so the anchor may be written
}

// Open opens the store in opt.Dir, or makes one. Errors: [memory.ErrInUse],
// [memory.ErrLocked] if the key is wrong, [ErrNewer], [ErrRolledBack],
// [memory.ErrDamaged], [memory.ErrNoSpace]. If the disk has no room for what a killed
// process has left, the store is open for reading alone until it has.
func Open(opt Options) (_ *Store, err error) {
	if opt.Dir == "" || opt.Key == nil {
		return nil, fmt.Errorf("%w: store: Dir and Key are needed", memory.ErrInvalid)
	}
	opt.Reserve = cmp.Or(opt.Reserve, DefaultReserve)
	if opt.Free == nil {
		opt.Free = diskspace.Free
	}
	opt.AnchorEvery = cmp.Or(opt.AnchorEvery, 64)
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if err := atomicfile.MkdirAll(opt.Dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{opt: opt, secrets: newSecrets(opt.Key), writer: make(chan struct{}, 1), lives: map[memory.MemberID]uint64{}, lines: newLineHints()}
	s.opt.Key = nil
	s.writer <- struct{}{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.lock, err = filelock.Take(filepath.Join(opt.Dir, lockName)); err != nil {
		return nil, err
	}
	if err := s.findRoom(); err != nil {
		return nil, err
	}
	if err := s.openRecords(); err != nil {
		return nil, err
	}
	if err := s.sweepBlobs(); err != nil {
		return nil, err
	}
	if s.full == nil {
		if err := s.followRules(); err != nil {
			return nil, err
		}
	}
	s.sound = true
	return s, nil
}

const (
	lockName    = "lock"
	recordsName = "records"
)

// openRecords opens Badger, checks head and anchor, and migrates an older
// format.
func (s *Store) openRecords() error {
	if err := finishSwap(s.opt.Dir); err != nil {
		return err
	}
	records := filepath.Join(s.opt.Dir, recordsName)
	if err := atomicfile.MkdirAll(records); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := checkFiles(records, s.secrets.disk); err != nil {
		return err
	}
	var err error
	if s.db, err = s.openRoomy(records); err != nil {
		return err
	}
	var found bool
	s.state = state{}
	err = s.db.View(func(txn *badger.Txn) error {
		var err error
		if s.state.head, found, err = s.secrets.readHead(txn); err != nil || !found || s.state.head.Format == 0 {
			return err
		}
		return s.secrets.readBuckets(txn, &s.state)
	})
	if err != nil {
		return err
	}
	if s.state.head.Format >= readFormat {
		if err := errors.Join(s.loadHints(), s.loadLines()); err != nil {
			return err
		}
	}
	if err := s.secrets.checkAnchor(s.opt.Dir, &s.state.head); err != nil && !s.opt.Accept {
		return err
	}
	switch {
	case s.full != nil && (!found || s.state.head.Format < readFormat):
		return s.full
	case s.full != nil:
		return nil
	case !found:
		s.state.head.Format, s.state.head.Rules = Format, rules
		if err := s.update(func(t *Tx) error { t.force = true; return nil }); err != nil {
			return err
		}
	case s.state.head.Format < readFormat:
		if err := s.roomAbove(min(s.opt.Reserve, leastRoom), 0); err != nil {
			return err
		}
		if err := s.migrate(); err != nil {
			return err
		}
	}
	if err := s.keepSpare(); err != nil {
		return fmt.Errorf("store: spare: %w", err)
	}
	return s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(&s.state.head))
}

// Close waits for running transactions, writes the anchor, and releases the
// folder. A second Close does nothing.
func (s *Store) Close() error {
	<-s.writer
	defer func() { s.writer <- struct{}{} }()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
		if s.sound && s.full == nil && errs[0] == nil {
			errs = append(errs, s.keepSpare(), s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(&s.state.head)))
		}
	}
	if err := errors.Join(append(errs, s.end())...); err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}

// end is the part of Close that does not need an open database: it erases the
// keys and releases the folder. The caller holds all locks.
func (s *Store) end() error {
	s.closed = true
	s.secrets.zero()
	if s.lock == nil {
		return nil
	}
	return s.lock.Release()
}

// Update runs fn in a transaction. If fn returns nil, Update commits: when it
// returns nil, everything that fn wrote is on the disk. On error nothing of it
// is. fn must not call methods of the Store, keep the Tx, or use it in other
// goroutines. Below the reserve, Update returns [memory.ErrNoSpace] before fn
// runs; it returns it after fn if less than 32 MB are free by then. A transaction
// holds about 200 assertions; a larger one fails with [ErrTooLarge].
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.updateAbove(ctx, s.opt.Reserve, fn)
}

// UpdateInReserve is Update for transactions that make room. It also works below the
// reserve, as long as 32 MB are free.
func (s *Store) UpdateInReserve(ctx context.Context, fn func(*Tx) error) error {
	return s.updateAbove(ctx, min(s.opt.Reserve, leastRoom), fn)
}

func (s *Store) updateAbove(ctx context.Context, reserve uint64, fn func(*Tx) error) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.writer:
	}
	defer func() { s.writer <- struct{}{} }()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := s.startCompactors(); err != nil {
		return err
	}
	if s.isFull() {
		if err := s.startWriting(s.lockAll); err != nil {
			return err
		}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if err := s.roomAbove(reserve, 0); err != nil {
		return err
	}
	return s.updateLeaving(reserve, func(t *Tx) error {
		if err := fn(t); err != nil {
			return err
		}
		return s.roomAbove(min(reserve, leastRoom), 0) // others may have filled the disk while fn ran
	})
}

// View runs fn on the present state. fn must not call methods of the Store.
func (s *Store) View(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	t := &Tx{store: s, txn: s.db.NewTransaction(false)}
	defer t.txn.Discard()
	return fn(t)
}

// RecordBytes returns how many bytes the records take on the disk, including
// replaced data that is not overwritten yet.
func (s *Store) RecordBytes() (uint64, error) {
	return diskspace.Used(filepath.Join(s.opt.Dir, recordsName))
}
