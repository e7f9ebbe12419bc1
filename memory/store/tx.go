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

// ErrTooLarge: one transaction wrote more than fits; write it in several.
var ErrTooLarge = errors.New("transaction is too large")

// errReadOnly: a write was asked of a View.
var errReadOnly = errors.New("store: write in a View")

// Tx is one transaction. It is for one goroutine, and ends with the function
// that it was given to.
type Tx struct {
	store *Store
	txn   *badger.Txn // reads only

	// Of a writing transaction:
	state     *state // as it will be
	before    *state // as it was
	pending   pending
	force     bool   // commit even if nothing was written
	reserve   uint64 // free bytes that blobs leave alone
	groups    map[string]*group
	dots      map[memory.MemberID]uint64
	documents []Document
	heard     []Document // of which others spoke; without numbers
	read      *lines     // the page of utterances that was read last
	undo      []func()   // runs when the transaction fails: files written for it
	finish    []func()   // runs after the commit: files that nothing refers to now
}

// update runs fn and commits. The caller has the writer's token.
func (s *Store) update(fn func(*Tx) error) error { return s.updateLeaving(s.opt.Reserve, fn) }

func (s *Store) updateLeaving(reserve uint64, fn func(*Tx) error) (err error) {
	next := s.state
	t := &Tx{
		store: s, txn: s.db.NewTransaction(false), state: &next, before: &s.state, reserve: reserve,
		groups: map[string]*group{}, dots: map[memory.MemberID]uint64{},
	}
	defer t.txn.Discard()
	committed := false
	defer func() { // also when fn panics
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
	posted := next.head.Seq.Outbox != s.state.head.Seq.Outbox
	s.state = next
	if posted && s.opt.Posted != nil {
		defer s.opt.Posted()
	}
	for _, f := range t.finish {
		f()
	}
	if h := &s.state.head; h.Generation%s.opt.AnchorEvery == 0 {
		if err := errors.Join(s.keepSpare(), s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(h))); err != nil {
			// The transaction is on disk all the same, and the next anchor covers it.
			s.opt.Log.Warn("store: anchor not written", "err", err)
		}
	}
	return nil
}

// raw reads a value as it lies there.
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

// get reads a record, as this transaction has left it. A changed bit is found
// here; an older value is not.
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

// open gives the plaintext of a value where it lies.
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

// put writes a record; it is sealed and guarded at the commit.
func (t *Tx) put(key, plain []byte) error {
	if t.state == nil {
		return errReadOnly
	}
	if err := fits(key, plain); err != nil {
		return err
	}
	return t.write(key, write{plain: plain})
}

// fits reports whether a record may be so large: [memory.ErrInvalid].
func fits(key, plain []byte) error {
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

// del removes a record; one that is not there is no error.
func (t *Tx) del(key []byte) error {
	if t.state == nil {
		return errReadOnly
	}
	return t.write(key, write{deleted: true})
}

func (t *Tx) write(key []byte, w write) error {
	t.pending.put(key, w)
	if int64(2*t.pending.count+bucketCount+1) > t.store.db.MaxBatchCount() {
		return fmt.Errorf("store: %w", ErrTooLarge)
	}
	return nil
}

// entry is a record as a scan gives it. It is not to be changed.
type entry struct{ key, plain []byte }

// scan gives the records under prefix in the order of their keys, from the
// first that is not before start (nil: the first); backwards, from the last
// that is not after start (nil: the last). It reads by the page, so that the
// loop may write, and scan in turn.
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

const pageBytes = 1 << 20

// page reads up to size records from start on, without the one at skip: those
// on disk, overlaid with those that this transaction wrote.
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
	read, done := 0, false // with the record under the iterator
	it.Seek(start)
	for len(page) < size && read < pageBytes {
		if done { // only here: the next one may be in a block that nothing else needs
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
