package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/dgraph-io/badger/v4"

	"github.com/locket-dev/locket/internal/progress"
)

// Verify reads everything and returns what is not as it was last written:
// records that were altered, swapped, replaced by an older version, removed or
// added; missing blobs; and buckets with a wrong digest. It changes nothing. It
// takes about 30 µs for each record, and little memory. Reads and writes can go
// on meanwhile; Verify sees the state at its beginning. It counts into the context's
// [progress.Gauge].
//
// If a record was replaced together with its guard, Verify can't find out which
// record it was, and names the bucket.
func (s *Store) Verify(ctx context.Context) ([]Damage, error) {
	v := verifier{secrets: s.secrets, gauge: progress.Of(ctx)}
	for _, table := range s.db.Tables() { // not those that are only in memory
		v.gauge.Total.Add(int64(table.KeyCount))
	}
	err := s.View(ctx, func(t *Tx) error {
		if err := v.records(ctx, t.txn); err != nil {
			return err
		}
		if err := v.guards(ctx, t.txn); err != nil {
			return err
		}
		if err := v.heads(t.txn); err != nil {
			return err
		}
		return v.blobs(ctx, t)
	})
	return v.found, err
}

type verifier struct {
	secrets *secrets
	found   []Damage
	sums    [bucketCount]digest // sums of the guards
	version uint64              // the greatest version seen
	gauge   *progress.Gauge
}

// note records what of an error is damage. It returns the rest.
func (v *verifier) note(err error) error {
	found, rest := Damages(err)
	v.found = append(v.found, found...)
	return rest
}

// records checks each record against its guard.
func (v *verifier) records(ctx context.Context, txn *badger.Txn) error {
	return v.walk(ctx, txn, nil, func(key, value []byte) error {
		v.gauge.Done.Add(1)
		if k := kind(key[0]); k == kindHead || k == kindGuard {
			return nil
		}
		version, _, err := v.secrets.open(key, value)
		if err != nil {
			return err
		}
		v.version = max(v.version, version)
		gk := v.secrets.guardKey(key)
		item, err := txn.Get(gk)
		if err == badger.ErrKeyNotFound {
			return damaged(key, "was added: nothing vouches for it")
		}
		if err != nil {
			return err
		}
		guard, err := item.ValueCopy(nil)
		if err != nil {
			return damaged(key, "its guard can't be read: "+err.Error())
		}
		last, tag, of, err := v.secrets.openGuard(gk, guard)
		switch {
		case err != nil:
			return damaged(key, "its guard was altered")
		case !bytes.Equal(of, key):
			return damaged(key, "has the guard of another record")
		case version < last:
			return damaged(key, "was put back to an older version")
		case version > last:
			return damaged(key, "its guard was put back to an older version")
		case !bytes.Equal(tag, tagOf(value)):
			return damaged(key, "was replaced by another value of the same version")
		}
		return nil
	})
}

// guards finds missing records, and adds up the buckets.
func (v *verifier) guards(ctx context.Context, txn *badger.Txn) error {
	return v.walk(ctx, txn, []byte{byte(kindGuard)}, func(gk, value []byte) error {
		version, tag, key, err := v.secrets.openGuard(gk, value)
		if err != nil {
			return err
		}
		if !bytes.Equal(gk, v.secrets.guardKey(key)) {
			return damaged(gk, "stands in another's place")
		}
		v.version = max(v.version, version)
		v.sums[gk[1]].add(v.secrets.member(key, version, tag))
		if _, err := txn.Get(key); err == badger.ErrKeyNotFound {
			return damaged(key, "is missing")
		} else if err != nil {
			return err
		}
		return nil
	})
}

// heads compares the sums with the buckets' and the head's records.
func (v *verifier) heads(txn *badger.Txn) error {
	var st state
	var ok bool
	var err error
	if st.head, ok, err = v.secrets.readHead(txn); err != nil {
		return v.note(err)
	}
	if !ok {
		return v.note(damaged(headKey, "is missing"))
	}
	if v.version > st.head.Version {
		v.found = append(v.found, *damaged(headKey, "was put back to an older version"))
	}
	if err := v.note(v.secrets.readBuckets(txn, &st)); err != nil {
		return err
	}
	for n := range v.sums {
		if v.sums[n] != st.buckets[n].sum {
			v.found = append(v.found, *damaged(bucketKey(n), "its digest does not fit its records"))
		}
	}
	return nil
}

// blobs reads each blob that a record names.
func (v *verifier) blobs(ctx context.Context, t *Tx) error {
	for e, err := range t.scan([]byte{byte(kindBlob)}, nil, false) {
		if err != nil {
			return v.note(err) // records has reported it already
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		r, err := decode[blobRecord](e.key, e.plain)
		if err == nil {
			err = t.store.checkBlob(e.key, r)
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = damaged(e.key, "its file is missing")
		}
		if err := v.note(err); err != nil {
			return err
		}
	}
	return nil
}

// walk calls look for every record under prefix and records its errors.
func (v *verifier) walk(ctx context.Context, txn *badger.Txn, prefix []byte, look func(key, value []byte) error) error {
	opt := badger.DefaultIteratorOptions
	opt.Prefix = prefix
	it := txn.NewIterator(opt)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		key := it.Item().KeyCopy(nil)
		value, err := it.Item().ValueCopy(nil)
		if err != nil {
			err = damaged(key, "can't be read: "+err.Error())
		} else if len(key) == 0 {
			err = damaged(key, "has no key")
		} else {
			err = look(key, value)
		}
		if err := v.note(err); err != nil {
			return err
		}
	}
	return nil
}
