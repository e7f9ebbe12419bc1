package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/dgraph-io/badger/v4"
)

// Verify reads everything and returns what is not as it was last written:
// records that were altered, swapped, put back to an older version, taken away
// or added, blobs that are missing, and buckets whose digest does not fit.
// Nothing is changed. It takes some 30 µs a record and little memory, and runs
// beside reads and writes, on the state of when it began.
//
// A record that was put back together with its guard can't be told from its
// neighbours: then the bucket is named.
func (s *Store) Verify(ctx context.Context) ([]Damage, error) {
	v := verifier{secrets: s.secrets}
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
	sums    [bucketCount]digest // of the guards
	version uint64              // the greatest seen
}

// note takes an error that is a Damage; others are returned.
func (v *verifier) note(err error) error {
	if d, ok := errors.AsType[*Damage](err); ok {
		v.found = append(v.found, *d)
		return nil
	}
	return err
}

// records looks at each record, and at its guard.
func (v *verifier) records(ctx context.Context, txn *badger.Txn) error {
	return v.walk(ctx, txn, nil, func(key, value []byte) error {
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

// guards looks for records that are missing, and adds up the buckets.
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

// heads compares what the buckets and the head say with the sums.
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
	for n := range v.sums {
		if st.buckets[n], err = v.secrets.readBucket(txn, n); err == nil && v.sums[n] != st.buckets[n].sum {
			err = damaged(bucketKey(n), "its digest does not fit its records")
		}
		if err := v.note(err); err != nil {
			return err
		}
	}
	return v.note(v.secrets.checkTotal(&st))
}

// blobs reads each blob that a record names.
func (v *verifier) blobs(ctx context.Context, t *Tx) error {
	for e, err := range t.scan([]byte{byte(kindBlob)}, nil, false) {
		if err != nil {
			return v.note(err) // named by the walk over the records already
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

// walk hands every record under prefix to look, and notes what that finds.
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
