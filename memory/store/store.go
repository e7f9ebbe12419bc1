// Package store keeps a node's memory on disk: assertions and what follows
// from them, utterances, blobs, index segments, and the node's small records.
// It is the only importer of Badger.
//
// The words:
//
//   - A record is a key and a sealed value; its kind is the key's first byte.
//   - Each record falls, by a keyed hash of its key, in one of 256 buckets. The
//     digest of a bucket is the sum of its records' MACs; the head holds the sum
//     of the buckets, the counters, and the format.
//   - A guard stands beside each record, and repeats its version: by it
//     [Store.Verify] names a record that was put back, taken away or added.
//   - The anchor is a small file beside the records that tells when all of
//     them together were put back to an older state.
//   - A group is the assertions that are reconciled with each other.
//   - The document log numbers what recall has to index, in order of change.
//
// One process has a store open, one writer writes at a time, readers see the
// state of when they began. A transaction is on disk when Update returns.
package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/diskspace"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/memory"
)

// Options of a store. Dir and Key are needed; Derive and Diff for [Tx.Assert].
type Options struct {
	Dir string    // the store's own folder; made where it is not there
	Key *seal.Key // the master key; it may be zeroed once Open has returned

	Derive func(group []memory.Assertion) []memory.Memory
	Diff   func(before, after []memory.Memory, cause memory.Assertion) []memory.Change

	Small       bool                             // hold less in memory, and read more often
	Reserve     uint64                           // free bytes left alone; 0: DefaultReserve
	Free        func(dir string) (uint64, error) // nil: of the file system, as the system says
	AnchorEvery uint64                           // commits; 0: 64
	Log         *slog.Logger                     // nil: nothing is logged
	Posted      func()                           // nil, or told after a commit that put something in the outbox; it must not wait

	// Accept opens the store in spite of an anchor that is missing, altered or
	// newer, as after a backup was put back by the owner, and writes a new one.
	Accept bool
}

// ErrClosed: the store was closed.
var ErrClosed = errors.New("store is closed")

// Store is open until Close. Its methods may be called at the same time.
type Store struct {
	opt     Options
	secrets *secrets
	lock    *filelock.Lock
	writer  chan struct{} // holds one token: whoever took it may write

	mu      sync.RWMutex // held for reading by transactions, for writing by whoever replaces db
	db      *badger.DB
	state   state                      // under the writer's token
	lives   map[memory.MemberID]uint64 // likewise; see dot.go
	cold    hints
	lines   lineHints
	inflate inflaters
	closed  bool
	sound   bool // Open went well: the anchor may be written
}

// Open opens the store in opt.Dir or makes one. Errors: [memory.ErrInUse],
// [memory.ErrLocked] for another key, [ErrNewer], [ErrRolledBack],
// [memory.ErrDamaged], [memory.ErrNoSpace].
func Open(opt Options) (_ *Store, err error) {
	if opt.Dir == "" || opt.Key == nil {
		return nil, fmt.Errorf("%w: store: Dir and Key are needed", memory.ErrInvalid)
	}
	if opt.Reserve == 0 {
		opt.Reserve = DefaultReserve
	}
	if opt.Free == nil {
		opt.Free = diskspace.Free
	}
	if opt.AnchorEvery == 0 {
		opt.AnchorEvery = 64
	}
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
	if err := s.roomAbove(min(s.opt.Reserve, openNeeds), 0); err != nil {
		return nil, err
	}
	if err := s.openRecords(); err != nil {
		return nil, err
	}
	if err := s.sweepBlobs(); err != nil {
		return nil, err
	}
	s.sound = true
	return s, nil
}

const (
	lockName    = "lock"
	recordsName = "records"
)

// openRecords opens Badger, checks head and anchor, and brings an older format
// up to date.
func (s *Store) openRecords() error {
	if err := finishSwap(s.opt.Dir); err != nil {
		return err
	}
	var err error
	if s.db, err = openBadger(filepath.Join(s.opt.Dir, recordsName), s.secrets.disk, s.opt.Small, s.opt.Log); err != nil {
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
	if s.state.head.Format >= coldFormat {
		if err := s.loadHints(); err != nil {
			return err
		}
	}
	if s.state.head.Format >= linesFormat {
		if err := s.loadLines(); err != nil {
			return err
		}
	}
	if err := s.secrets.checkAnchor(s.opt.Dir, &s.state.head); err != nil && !s.opt.Accept {
		return err
	}
	switch {
	case !found:
		s.state.head.Format = Format
		if err := s.update(func(t *Tx) error { t.force = true; return nil }); err != nil {
			return err
		}
	case s.state.head.Format < Format:
		if err := s.migrate(); err != nil {
			return err
		}
	}
	if err := s.keepSpare(); err != nil {
		return fmt.Errorf("store: spare: %w", err)
	}
	return s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(&s.state.head))
}

// Close waits for transactions that run, writes the anchor, and lets go of the
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
		if s.sound && errs[0] == nil {
			errs = append(errs, s.keepSpare(), s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(&s.state.head)))
		}
	}
	if err := errors.Join(append(errs, s.end())...); err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}

// end is what remains of Close where no database is open: the keys go, and the
// folder is free for whoever opens it next. The caller holds everything.
func (s *Store) end() error {
	s.closed = true
	s.secrets.zero()
	if s.lock == nil {
		return nil
	}
	return s.lock.Release()
}

// Update runs fn in a transaction and commits it, unless fn fails: all of what
// it wrote is on disk when Update returns nil, and none of it otherwise. fn
// must not call methods of the Store, keep its Tx, or start goroutines with it.
// Below the reserve it fails with [memory.ErrNoSpace] before fn runs. A
// transaction holds about 200 assertions; a larger one fails with [ErrTooLarge].
func (s *Store) Update(ctx context.Context, fn func(*Tx) error) error {
	return s.updateAbove(ctx, s.opt.Reserve, fn)
}

// Relieve is Update for what makes room: it goes on below the reserve, as far
// down as a store can be opened.
func (s *Store) Relieve(ctx context.Context, fn func(*Tx) error) error {
	return s.updateAbove(ctx, min(s.opt.Reserve, openNeeds), fn)
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if err := s.roomAbove(reserve, 0); err != nil {
		return err
	}
	return s.updateLeaving(reserve, fn)
}

// View runs fn on the state of now. fn must not call methods of the Store.
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

// Stats are figures for a person who looks after the store.
type Stats struct {
	Format     int    `json:"format"`
	Generation uint64 `json:"generation"` // transactions committed
	Bytes      uint64 `json:"bytes"`      // on disk, of records and blobs
	Malformed  int    `json:"malformed"`  // inputs in quarantine
}

// RecordBytes is what the records take on the disk, with what is replaced and
// not yet written over.
func (s *Store) RecordBytes() (uint64, error) {
	return diskspace.Used(filepath.Join(s.opt.Dir, recordsName))
}

// Stats waits for a transaction that writes.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	select {
	case <-ctx.Done():
		return Stats{}, context.Cause(ctx)
	case <-s.writer:
	}
	defer func() { s.writer <- struct{}{} }()
	if s.closed {
		return Stats{}, ErrClosed
	}
	size, err := diskspace.Used(s.opt.Dir)
	h := &s.state.head
	return Stats{h.Format, h.Generation, size, h.Seq.malformed()}, err
}
