package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Format is the version of the layout that this code writes. Older ones, from readFormat
// on, are read as they are, and a store gets the new version with its next transaction.
// Then older programs refuse it.
//
//	1  no stubs of cold memories
//	2  no pages of utterances
//	3  no pressed values; guards are sealed, and each bucket has a record
const (
	Format     = 4
	readFormat = 1
)

// ErrNewer: the store was written by a later version of Locket.
var ErrNewer = errors.New("store format is newer than this program knows")

// head is the record that every transaction writes.
type head struct {
	Format     int      `json:"format"`
	Version    uint64   `json:"version"`    // of the last value written; each write adds one
	Generation uint64   `json:"generation"` // transactions committed
	Total      []byte   `json:"total"`      // sum of the buckets' MACs, 32 bytes
	Seq        counters `json:"seq"`
	Rules      int      `json:"rules,omitempty"` // the [rules] by which the groups and memories were made
}

// counters number what is stored in order of arrival. Each is the last number
// that was used.
type counters struct {
	Change      uint64 `json:"change"`
	Outbox      uint64 `json:"outbox"`
	Document    uint64 `json:"document"`
	Refusal     uint64 `json:"refusal"`
	Quarantined uint64 `json:"malformed,omitempty"`

	Covered uint64 `json:"covered,omitempty"` // the document log was tidied up to here

	Pack uint64 `json:"pack,omitempty"`
	Cold int    `json:"cold,omitempty"` // number of cold memories

	Packed uint64 `json:"packed,omitempty"` // the greatest number in the document log of any utterance that was packed
}

var headKey = []byte{byte(kindHead)}

// state is the writer's copy of head and buckets in memory: 10 KB.
type state struct {
	head    head
	total   digest
	buckets buckets
}

// readHead reads the head record. ok is false in an empty directory.
func (s *secrets) readHead(txn *badger.Txn) (h head, ok bool, err error) {
	item, err := txn.Get(headKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return h, false, nil
	}
	if err != nil {
		return h, false, fmt.Errorf("store: head: %w", err)
	}
	value, err := item.ValueCopy(nil)
	if err != nil {
		return h, false, damaged(headKey, "can't be read: "+err.Error())
	}
	version, plain, err := s.open(headKey, value)
	if err != nil {
		return h, false, err
	}
	if h, err = decode[head](headKey, plain); err != nil {
		return h, false, err
	}
	if h.Format > Format {
		return h, false, fmt.Errorf("store: format %d, this program knows up to %d: %w", h.Format, Format, ErrNewer)
	}
	if h.Version != version {
		return h, false, damaged(headKey, "is of another version than it says")
	}
	return h, true, nil
}

// readBuckets reads the buckets and compares their sum with the head's.
func (s *secrets) readBuckets(txn *badger.Txn, st *state) error {
	var faults []error
	opt := badger.DefaultIteratorOptions
	opt.Prefix = headKey
	it := txn.NewIterator(opt)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().KeyCopy(nil)
		if len(key) == len(headKey) {
			continue
		}
		value, err := it.Item().ValueCopy(nil)
		if err != nil {
			err = damaged(key, "can't be read: "+err.Error())
		} else if version, plain, wrong := s.open(key, value); wrong != nil {
			err = wrong
		} else {
			err = st.buckets.merge(key, version, plain)
		}
		faults = append(faults, err)
	}
	return errors.Join(append(faults, s.checkTotal(st))...)
}

// checkTotal compares the sum of the buckets with the head's.
func (s *secrets) checkTotal(st *state) error {
	st.total = digest{}
	for n, b := range st.buckets {
		if b.version != 0 {
			st.total.add(s.bucket(n, b))
		}
	}
	if !bytes.Equal(st.total.bytes(), st.head.Total) {
		return damaged(headKey, "does not fit the buckets: some were put back or taken away")
	}
	return nil
}

// settle sets the versions of the changed buckets and updates the total. It returns the
// record that has their sums from now on.
func (st *state) settle(s *secrets, before *state, touched []int) (key, plain []byte) {
	turn := uint8(1 + st.head.Generation%turns)
	for n, b := range before.buckets {
		if b.turn == turn && len(touched) > 0 && !slices.Contains(touched, n) {
			touched = append(touched, n)
		}
	}
	for _, n := range touched {
		if before.buckets[n].version != 0 {
			st.total.sub(s.bucket(n, before.buckets[n]))
		}
		st.buckets[n].version, st.buckets[n].turn = st.head.Version, turn
		st.total.add(s.bucket(n, st.buckets[n]))
		plain = append(append(plain, byte(n)), st.buckets[n].sum.bytes()...)
	}
	st.head.Total = st.total.bytes()
	return turnKey(turn), plain
}
