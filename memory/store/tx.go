package store

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/memory"
)

// ErrTooLarge: the transaction is too large; split it.
var ErrTooLarge = errors.New("transaction is too large")

// errReadOnly: a method that writes was called in a View.
var errReadOnly = errors.New("store: write in a View")

// Tx is one transaction. It must be used by one goroutine only, and only until
// the function that got it returns.
type Tx struct {
	store *Store
	txn   *badger.Txn // reads only

	// The following fields are for writing transactions.
	state      *state // after the commit
	before     *state // before the transaction
	pending    pending
	force      bool   // commit even if nothing was written
	reserve    uint64 // free bytes that blobs must not use
	groups     map[string]*group
	dots       map[memory.MemberID]uint64
	documents  []Document
	fromOthers []Document // about which others said something; without numbers
	read       *lines     // the page of utterances that was read last
	undo       []func()   // run if the transaction fails, to remove files written for it
	finish     []func()   // run after the commit, to remove files that are no longer used
}

// Revision numbers the state that a reading transaction sees. Two transactions with the same number
// see the same.
func (t *Tx) Revision() uint64 { return t.txn.ReadTs() }

// update runs fn and commits. The caller holds the writer's token.
func (s *Store) update(fn func(*Tx) error) error { return s.updateLeaving(s.opt.Reserve, fn) }

func (s *Store) updateLeaving(reserve uint64, fn func(*Tx) error) (err error) {
	next := s.state
	t := &Tx{
		store: s, txn: s.db.NewTransaction(false), state: &next, before: &s.state, reserve: reserve,
		groups: map[string]*group{}, dots: map[memory.MemberID]uint64{},
	}
	defer t.txn.Discard()
	committed := false
	defer func() { // also if fn panics
		if !committed {
			for _, f := range t.undo {
				f()
			}
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	if err := t.commit(); err != nil {
		return err
	}
	committed = true
	letBuildersGo(s.db)
	posted := next.head.Seq.Outbox != s.state.head.Seq.Outbox
	s.state = next
	if posted && s.opt.OnPosted != nil {
		defer s.opt.OnPosted()
	}
	for _, f := range t.finish {
		f()
	}
	if h := &s.state.head; h.Generation%s.opt.AnchorEvery == 0 {
		if err := errors.Join(s.keepSpare(), s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(h))); err != nil {
			// The transaction is on the disk nevertheless, and the next anchor
			// covers it.
			s.opt.Log.Warn("store: anchor not written", "err", err)
		}
	}
	return nil
}

// raw reads a value without decrypting it.
func (t *Tx) raw(key []byte) (value []byte, ok bool, err error) {
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, false, nil
	}
	if err == nil {
		value, err = item.ValueCopy(nil)
	}
	if err != nil {
		return nil, false, damaged(key, "can't be read: "+err.Error())
	}
	return value, true, nil
}

// get reads a record, including this transaction's own writes. It detects a
// changed bit, but not an older value.
func (t *Tx) get(key []byte) (plain []byte, ok bool, err error) {
	if w, written := t.pending.get(key); written {
		return w.plain, !w.deleted, nil
	}
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, damaged(key, "can't be read: "+err.Error())
	}
	plain, err = t.open(key, item)
	return plain, err == nil, err
}

// open decrypts a value.
func (t *Tx) open(key []byte, item *badger.Item) (plain []byte, err error) {
	var wrong error
	err = item.Value(func(value []byte) error {
		_, plain, wrong = t.store.secrets.open(key, value)
		return nil
	})
	if err != nil {
		return nil, damaged(key, "can't be read: "+err.Error())
	}
	return plain, wrong
}

// load reads and decodes a record.
func load[T any](t *Tx, key []byte) (v T, ok bool, err error) {
	plain, ok, err := t.get(key)
	if err != nil || !ok {
		return v, false, err
	}
	v, err = decode[T](key, plain)
	return v, err == nil, err
}

// put writes a record. It is sealed and guarded at the commit.
func (t *Tx) put(key, plain []byte) error {
	if t.state == nil {
		return errReadOnly
	}
	if err := checkSize(key, plain); err != nil {
		return err
	}
	return t.write(key, write{plain: plain})
}

// checkSize returns [memory.ErrInvalid] if a record is too large.
func checkSize(key, plain []byte) error {
	if len(plain) > maxValue {
		name, text := describe(key)
		return fmt.Errorf("%w: %s %s: %d bytes, at most %d", memory.ErrInvalid, name, text, len(plain), maxValue)
	}
	return nil
}

// save encodes and writes a record.
func (t *Tx) save(key []byte, v any) error {
	plain, err := encode(v)
	if err != nil {
		return err
	}
	return t.put(key, plain)
}

// del removes a record. If there is none, it returns nil.
func (t *Tx) del(key []byte) error {
	if t.state == nil {
		return errReadOnly
	}
	return t.write(key, write{deleted: true})
}

func (t *Tx) write(key []byte, w write) error {
	t.pending.put(key, w)
	if int64(2*t.pending.count+2) > t.store.db.MaxBatchCount() {
		return fmt.Errorf("store: %w", ErrTooLarge)
	}
	return nil
}

// entry is a record returned by a scan. It must not be changed.
type entry struct{ key, plain []byte }

// scan returns the records under prefix in the order of their keys, beginning
// with the first at or after start (nil: the first). Backwards, it begins with
// the last at or before start (nil: the last). It reads page by page, so the
// loop may write, and may scan, too.
func (t *Tx) scan(prefix, start []byte, backwards bool) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		var last []byte
		for size := 16; ; size = min(2*size, 256) {
			page, err := t.page(prefix, start, last, backwards, size)
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(entry{}, err)
				return
			}
			if len(page) == 0 {
				return
			}
			last = page[len(page)-1].key
			start = last
		}
	}
}

// Collect returns all values of an iterator, or its first error.
func Collect[T any](seq iter.Seq2[T, error]) (all []T, err error) {
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// each is scan, with each record converted by of. After an error it ends.
func each[T any](t *Tx, prefix, start []byte, backwards bool, of func(entry) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for e, err := range t.scan(prefix, start, backwards) {
			var v T
			if err == nil {
				v, err = of(e)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// under is each of all records under prefix, decoded.
func under[T any](t *Tx, prefix []byte) iter.Seq2[T, error] {
	return each(t, prefix, nil, false, decoded[T])
}

func decoded[T any](e entry) (T, error) { return decode[T](e.key, e.plain) }

const pageBytes = 1 << 20

// page reads up to size records from start on, except the one at skip. It
// combines the records on disk with this transaction's writes.
func (t *Tx) page(prefix, start, skip []byte, backwards bool, size int) (page []entry, err error) {
	opt := badger.DefaultIteratorOptions
	opt.Prefix, opt.Reverse, opt.PrefetchSize = prefix, backwards, min(size, 64)
	it := t.txn.NewIterator(opt)
	defer it.Close()
	if start == nil {
		start = prefix
		if backwards {
			start = append(slices.Clone(prefix), bytes.Repeat([]byte{0xff}, maxKey)...)
		}
	}
	written := t.pending.under(prefix, start, backwards)
	read, done := 0, false // including the record under the iterator
	it.Seek(start)
	for len(page) < size && read < pageBytes {
		if done { // here and not earlier, because the next record may be in a block that nothing else needs
			it.Next()
			done = false
		}
		var key []byte
		onDisk := it.ValidForPrefix(prefix)
		if onDisk {
			key = it.Item().KeyCopy(nil)
		}
		var e entry
		if len(written) > 0 && (!onDisk || (bytes.Compare(written[0], key) > 0) == backwards || bytes.Equal(written[0], key)) {
			w, _ := t.pending.get(written[0])
			e = entry{written[0], w.plain}
			done = onDisk && bytes.Equal(written[0], key)
			written = written[1:]
			if w.deleted {
				continue
			}
		} else if onDisk {
			done = true
			if bytes.Equal(key, skip) {
				continue
			}
			plain, err := t.open(key, it.Item())
			if err != nil {
				return page, err
			}
			e = entry{key, plain}
		} else {
			break
		}
		if bytes.Equal(e.key, skip) {
			continue
		}
		page = append(page, e)
		read += len(e.plain)
	}
	return page, nil
}
