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
	txn   *badger.Txn

	// Of a writing transaction:
	state     *state       // as it will be
	before    *state       // as it was
	touched   map[int]bool // buckets
	force     bool         // commit even if nothing was written
	groups    map[string]*group
	dots      map[memory.MemberID]uint64
	documents []Document
	undo      []func() // runs when the transaction fails: files written for it
	finish    []func() // runs after the commit: files that nothing refers to now
}

// update runs fn and commits. The caller has the writer's token.
func (s *Store) update(fn func(*Tx) error) (err error) {
	next := s.state
	t := &Tx{
		store: s, txn: s.db.NewTransaction(true), state: &next, before: &s.state,
		touched: map[int]bool{}, groups: map[string]*group{}, dots: map[memory.MemberID]uint64{},
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
	s.state = next
	for _, f := range t.finish {
		f()
	}
	if h := &s.state.head; h.Generation%s.opt.AnchorEvery == 0 {
		if err := s.secrets.writeAnchor(s.opt.Dir, s.secrets.anchorOf(h)); err != nil {
			// The transaction is on disk all the same, and the next anchor covers it.
			s.opt.Log.Warn("store: anchor not written", "err", err)
		}
	}
	return nil
}

// commit writes head and buckets, and waits for the disk.
func (t *Tx) commit() error {
	sec, h := t.store.secrets, &t.state.head
	if len(t.touched) == 0 && h.Seq == t.before.head.Seq && !t.force {
		return nil // nothing was written
	}
	h.Version++
	h.Generation++
	touched := make([]int, 0, len(t.touched))
	for n := range t.touched {
		touched = append(touched, n)
	}
	t.state.settle(sec, t.before, touched)
	for _, n := range touched {
		key := bucketKey(n)
		if err := t.set(key, sec.seal(key, h.Version, t.state.buckets[n].sum.bytes())); err != nil {
			return err
		}
	}
	plain, err := encode(h)
	if err != nil {
		return err
	}
	if err := t.set(headKey, sec.seal(headKey, h.Version, plain)); err != nil {
		return err
	}
	if err := t.txn.Commit(); err != nil {
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}

func (t *Tx) set(key, value []byte) error {
	err := t.txn.Set(key, value)
	if errors.Is(err, badger.ErrTxnTooBig) {
		return fmt.Errorf("store: %w", ErrTooLarge)
	}
	if err != nil {
		return fmt.Errorf("store: write: %w", err)
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

// get reads a record. A changed bit is found here; an older value is not.
func (t *Tx) get(key []byte) (plain []byte, ok bool, err error) {
	value, ok, err := t.raw(key)
	if err != nil || !ok {
		return nil, false, err
	}
	_, plain, err = t.store.secrets.open(key, value)
	return plain, err == nil, err
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

// put writes a record, its guard, and the digest of its bucket.
func (t *Tx) put(key, plain []byte) error {
	if t.state == nil {
		return errReadOnly
	}
	if len(plain) > maxValue {
		name, text := describe(key)
		return fmt.Errorf("%w: %s %s: %d bytes, at most %d", memory.ErrInvalid, name, text, len(plain), maxValue)
	}
	sec := t.store.secrets
	gk, _, err := t.unguard(key)
	if err != nil {
		return err
	}
	t.state.head.Version++
	version := t.state.head.Version
	value := sec.seal(key, version, plain)
	n := int(gk[1])
	t.state.change(n, sec.member(key, version, tagOf(value)), false)
	t.touched[n] = true
	if err := t.set(key, value); err != nil {
		return err
	}
	return t.set(gk, sec.seal(gk, version, append(slices.Clone(tagOf(value)), key...)))
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
	gk, guarded, err := t.unguard(key)
	if err != nil {
		return err
	}
	if !guarded {
		if _, ok, err := t.raw(key); err != nil || !ok {
			return err
		}
	}
	for _, k := range [][]byte{key, gk} {
		if err := t.txn.Delete(k); err != nil {
			if errors.Is(err, badger.ErrTxnTooBig) {
				return fmt.Errorf("store: %w", ErrTooLarge)
			}
			return fmt.Errorf("store: delete: %w", err)
		}
	}
	return nil
}

// unguard takes a record, where it is there, out of the digest of its bucket.
func (t *Tx) unguard(key []byte) (gk []byte, ok bool, err error) {
	sec := t.store.secrets
	gk = sec.guardKey(key)
	value, ok, err := t.raw(gk)
	if err != nil || !ok {
		return gk, false, err
	}
	version, tag, of, err := sec.openGuard(gk, value)
	if err != nil {
		return gk, false, err
	}
	if !bytes.Equal(of, key) {
		return gk, false, damaged(key, "has the guard of another record")
	}
	t.state.change(int(gk[1]), sec.member(key, version, tag), true)
	t.touched[int(gk[1])] = true
	return gk, true, nil
}

// openGuard gives the version and tag that the guarded record has.
func (s *secrets) openGuard(gk, value []byte) (version uint64, tag, key []byte, err error) {
	version, plain, err := s.open(gk, value)
	if err != nil {
		return 0, nil, nil, err
	}
	if len(plain) < tagSize {
		return 0, nil, nil, damaged(gk, "is cut short")
	}
	return version, plain[:tagSize], plain[tagSize:], nil
}

// entry is a record as a scan gives it.
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

// page reads up to size records from start on, without the one at skip.
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
	read := 0
	for it.Seek(start); it.ValidForPrefix(prefix) && len(page) < size && read < pageBytes; it.Next() {
		item := it.Item()
		key := item.KeyCopy(nil)
		if bytes.Equal(key, skip) {
			continue
		}
		value, err := item.ValueCopy(nil)
		if err != nil {
			return page, damaged(key, "can't be read: "+err.Error())
		}
		_, plain, err := t.store.secrets.open(key, value)
		if err != nil {
			return page, err
		}
		page = append(page, entry{key, plain})
		read += len(value)
	}
	return page, nil
}
