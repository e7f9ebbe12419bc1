package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
	"go.etcd.io/bbolt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// keeper is a store under test. When add returns, what it was given is synced to disk.
type keeper interface {
	add(ctx context.Context, facts []memory.Assertion) error
	Close() error
}

// keepers, Locket first.
var keepers = []string{"locket", "badger", "bbolt", "sqlite"}

// newKeeper makes the store with this name. Each adds a batch in one transaction:
//
//	locket   memory/store with its defaults: for each assertion the memory that
//	         follows from it, its history, group, index of evidence and outbox,
//	         each value sealed and guarded, and the digest of all
//	badger   v4, default options, SyncWrites; one JSON value for each assertion
//	bbolt    default options, which sync each commit; the same values
//	sqlite   WAL, synchronous=FULL, prepared INSERT; the same values in a table
//	         with the id as primary key, WITHOUT ROWID
func newKeeper(name, dir string) (keeper, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	switch name {
	case "locket":
		s, err := store.Open(store.Options{Dir: dir, Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff})
		return locketKeeper{s}, err
	case "badger":
		db, err := badger.Open(badger.DefaultOptions(dir).WithSyncWrites(true).WithLogger(nil))
		return badgerKeeper{db}, err
	case "bbolt":
		db, err := bbolt.Open(filepath.Join(dir, "facts.bolt"), 0o600, nil)
		if err != nil {
			return nil, err
		}
		return bboltKeeper{db}, db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket(bboltBucket); return err })
	case "sqlite":
		return openSQLiteKeeper(filepath.Join(dir, "facts.db"))
	}
	return nil, fmt.Errorf("there is no store %q", name)
}

type locketKeeper struct{ *store.Store }

func (k locketKeeper) add(ctx context.Context, facts []memory.Assertion) error {
	return k.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Assert(facts...)
		return err
	})
}

type badgerKeeper struct{ *badger.DB }

func (k badgerKeeper) add(_ context.Context, facts []memory.Assertion) error {
	return k.Update(func(tx *badger.Txn) error {
		for i := range facts {
			b, err := json.Marshal(&facts[i])
			if err == nil {
				err = tx.Set(facts[i].Memory[:], b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

type bboltKeeper struct{ *bbolt.DB }

var bboltBucket = []byte("facts")

func (k bboltKeeper) add(_ context.Context, facts []memory.Assertion) error {
	return k.Update(func(tx *bbolt.Tx) error {
		for i := range facts {
			b, err := json.Marshal(&facts[i])
			if err == nil {
				err = tx.Bucket(bboltBucket).Put(facts[i].Memory[:], b)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

type sqliteKeeper struct {
	db   *sql.DB
	stmt *sql.Stmt
}

func openSQLiteKeeper(path string) (keeper, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE facts(id BLOB PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	stmt, err := db.Prepare(`INSERT INTO facts(id, body) VALUES (?, ?)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &sqliteKeeper{db, stmt}, nil
}

func (k *sqliteKeeper) add(ctx context.Context, facts []memory.Assertion) error {
	tx, err := k.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	stmt := tx.StmtContext(ctx, k.stmt)
	for i := range facts {
		b, err := json.Marshal(&facts[i])
		if err == nil {
			_, err = stmt.ExecContext(ctx, facts[i].Memory[:], b)
		}
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (k *sqliteKeeper) Close() error { return errors.Join(k.stmt.Close(), k.db.Close()) }
