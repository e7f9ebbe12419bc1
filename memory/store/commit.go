package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/internal/sorting"
)

// write is a change of a record in a transaction.
type write struct {
	plain   []byte
	deleted bool
}

// pending holds the changes of a transaction by kind. A record that is written
// twice is sealed once, and a scan looks only at its own kind.
type pending struct {
	count int
	kinds map[kind]map[string]write
}

func (p *pending) get(key []byte) (w write, ok bool) {
	w, ok = p.kinds[kind(key[0])][string(key)]
	return w, ok
}

func (p *pending) put(key []byte, w write) {
	if p.kinds == nil {
		p.kinds = map[kind]map[string]write{}
	}
	m := p.kinds[kind(key[0])]
	if m == nil {
		m = map[string]write{}
		p.kinds[kind(key[0])] = m
	}
	was := len(m)
	m[string(key)] = w
	p.count += len(m) - was
}

// under returns the keys with a prefix, from start on, in the order of a scan.
func (p *pending) under(prefix, start []byte, backwards bool) (keys [][]byte) {
	for k := range p.kinds[kind(prefix[0])] {
		key := []byte(k)
		if c := bytes.Compare(key, start); bytes.HasPrefix(key, prefix) && (c == 0 || (c < 0) == backwards) {
			keys = append(keys, key)
		}
	}
	sorting.Sort(keys, bytes.Compare)
	if backwards {
		slices.Reverse(keys)
	}
	return keys
}

// commit seals the changed records, updates guards, buckets and head, and waits
// until all is on the disk.
func (t *Tx) commit() error {
	sec, h := t.store.secrets, &t.state.head
	if t.pending.count == 0 && h.Seq == t.before.head.Seq && !t.force {
		return nil // nothing was written
	}
	c := committer{t: t, txn: t.store.db.NewTransaction(true), touched: map[int]bool{}}
	defer c.txn.Discard()
	for _, k := range slices.Sorted(maps.Keys(t.pending.kinds)) {
		records := t.pending.kinds[k]
		for _, key := range slices.Sorted(maps.Keys(records)) {
			if err := c.record([]byte(key), records[key]); err != nil {
				return err
			}
		}
	}
	h.Version++
	h.Generation++
	h.Format = max(h.Format, Format)
	key, sums := t.state.settle(sec, t.before, slices.Sorted(maps.Keys(c.touched)))
	if len(sums) > 0 {
		if err := c.set(key, sec.seal(key, h.Version, sums)); err != nil {
			return err
		}
	}
	plain, err := encode(h)
	if err != nil {
		return err
	}
	if err := c.set(headKey, sec.seal(headKey, h.Version, plain)); err != nil {
		return err
	}
	t.store.abouts.wrote(&t.pending)
	if err := c.txn.Commit(); err != nil {
		return fmt.Errorf("store: commit: %w", tooLarge(err))
	}
	t.store.abouts.wrote(&t.pending)
	return nil
}

// committer writes records with their guards.
type committer struct {
	t       *Tx
	txn     *badger.Txn
	touched map[int]bool // buckets
}

func (c *committer) record(key []byte, w write) error {
	sec, st := c.t.store.secrets, c.t.state
	gk := sec.guardKey(key)
	n := int(gk[1])
	guarded, err := c.unguard(key, gk)
	if err != nil {
		return err
	}
	if w.deleted {
		if _, there, err := c.t.raw(key); err != nil || !there && !guarded {
			return err
		}
		return errors.Join(c.del(key), c.del(gk))
	}
	st.head.Version++
	version := st.head.Version
	value := sec.seal(key, version, w.plain)
	st.buckets[n].sum.add(sec.member(key, version, tagOf(value)))
	c.touched[n] = true
	if err := c.set(key, value); err != nil {
		return err
	}
	return c.set(gk, sec.seal(gk, version, slices.Concat(tagOf(value), key)))
}

// unguard removes a record, if there is one, from its bucket's digest.
func (c *committer) unguard(key, gk []byte) (ok bool, err error) {
	sec := c.t.store.secrets
	value, ok, err := c.t.raw(gk)
	if err != nil || !ok {
		return false, err
	}
	version, tag, of, err := sec.openGuard(gk, value)
	if err != nil {
		return false, err
	}
	if !bytes.Equal(of, key) {
		return false, damaged(key, "has the guard of another record")
	}
	c.t.state.buckets[gk[1]].sum.sub(sec.member(key, version, tag))
	c.touched[int(gk[1])] = true
	return true, nil
}

// perNode is about how many bytes Badger's memtable needs for an entry in addition.
const perNode = 60

func (c *committer) set(key, value []byte) error {
	if err := c.txn.Set(key, value); err != nil {
		return fmt.Errorf("store: write: %w", tooLarge(err))
	}
	c.t.store.wrote.Add(int64(len(key) + len(value) + perNode))
	return nil
}

func (c *committer) del(key []byte) error {
	if err := c.txn.Delete(key); err != nil {
		return fmt.Errorf("store: delete: %w", tooLarge(err))
	}
	return nil
}

func tooLarge(err error) error {
	if errors.Is(err, badger.ErrTxnTooBig) {
		return ErrTooLarge
	}
	return err
}
