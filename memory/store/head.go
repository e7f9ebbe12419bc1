package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Format is the version of the layout that this code writes. A store in which
// something has turned cold has the version coldFormat, so that an older
// program, which does not know stubs, refuses it and does not take cold
// memories for lost. A store with pages of utterances has the version
// linesFormat for the same reason.
const (
	Format      = 1
	coldFormat  = 2
	linesFormat = 3
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
	Quarantined uint64 `json:"malformed"`

	QuarantinedFirst uint64 `json:"malformed_first"`           // from which they are counted
	QuarantinedHoles int    `json:"malformed_holes,omitempty"` // removed ones between that one and the last
	QuarantinedKept  int    `json:"malformed_kept,omitempty"`  // those before that one, which an earlier version did not count any more

	Covered uint64 `json:"covered"` // the document log was tidied up to here

	Pack uint64 `json:"pack,omitempty"`
	Cold int    `json:"cold,omitempty"` // number of cold memories

	Packed uint64 `json:"packed,omitempty"` // the greatest number in the document log of any utterance that was packed
}

func (c *counters) quarantined() int {
	if c.QuarantinedFirst == 0 {
		return 0
	}
	return int(c.Quarantined-c.QuarantinedFirst+1) - c.QuarantinedHoles + c.QuarantinedKept
}

var headKey = []byte{byte(kindHead)}

// state is the writer's copy of head and buckets in memory: 10 KB.
type state struct {
	head    head
	total   digest
	buckets [bucketCount]bucket
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
	if h.Format > linesFormat {
		return h, false, fmt.Errorf("store: format %d, this program knows up to %d: %w", h.Format, linesFormat, ErrNewer)
	}
	if h.Version != version {
		return h, false, damaged(headKey, "is of another version than it says")
	}
	return h, true, nil
}

// readBuckets reads the buckets and compares their sum with the head's.
func (s *secrets) readBuckets(txn *badger.Txn, st *state) (err error) {
	for n := range st.buckets {
		if st.buckets[n], err = s.readBucket(txn, n); err != nil {
			return err
		}
	}
	return s.checkTotal(st)
}

// readBucket returns the zero bucket if none was written.
func (s *secrets) readBucket(txn *badger.Txn, n int) (b bucket, err error) {
	key := bucketKey(n)
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return b, nil
	}
	if err != nil {
		return b, fmt.Errorf("store: bucket %d: %w", n, err)
	}
	value, err := item.ValueCopy(nil)
	if err != nil {
		return b, damaged(key, "can't be read: "+err.Error())
	}
	version, plain, err := s.open(key, value)
	if err != nil {
		return b, err
	}
	if len(plain) != digestSize {
		return b, damaged(key, "is of another size")
	}
	return bucket{version, digestOf([digestSize]byte(plain))}, nil
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

// settle sets the versions of the changed buckets and updates the total.
func (st *state) settle(s *secrets, before *state, touched []int) {
	for _, n := range touched {
		if before.buckets[n].version != 0 {
			st.total.sub(s.bucket(n, before.buckets[n]))
		}
		st.buckets[n].version = st.head.Version
		st.total.add(s.bucket(n, st.buckets[n]))
	}
	st.head.Total = st.total.bytes()
}
