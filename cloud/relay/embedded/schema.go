package embedded

import (
	"context"
	"database/sql"
	"fmt"
)

// schemas lead from each version of the tables to the next; PRAGMA
// user_version counts how many were run. One that was released never changes.
var schemas = []string{`
CREATE TABLE accounts (
	id     BLOB PRIMARY KEY, -- root key
	bytes  INTEGER NOT NULL,
	blobs  INTEGER NOT NULL,
	day    INTEGER NOT NULL,
	deltas INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE invites (
	hash BLOB PRIMARY KEY,
	used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE spaces (
	id       BLOB PRIMARY KEY,
	account  BLOB NOT NULL REFERENCES accounts ON DELETE CASCADE,
	log_n    INTEGER NOT NULL,
	log_head BLOB NOT NULL,
	cursor   INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX spaces_of ON spaces (account);
CREATE TABLE log (
	space BLOB NOT NULL REFERENCES spaces ON DELETE CASCADE,
	n     INTEGER NOT NULL,
	entry BLOB NOT NULL,
	UNIQUE (space, n)
);
CREATE TABLE deltas (
	space       BLOB NOT NULL REFERENCES spaces ON DELETE CASCADE,
	cursor      INTEGER NOT NULL,
	member      BLOB NOT NULL,
	incarnation INTEGER NOT NULL, -- the bits of a u64
	seq         INTEGER NOT NULL,
	hash        BLOB NOT NULL,    -- SHA-256 of the header
	header      BLOB NOT NULL,
	signature   BLOB NOT NULL,
	body        BLOB,             -- null: taken away
	size        INTEGER NOT NULL, -- that counts
	UNIQUE (space, cursor),
	UNIQUE (space, member, incarnation, seq)
);
CREATE TABLE blobs (
	space  BLOB NOT NULL REFERENCES spaces ON DELETE CASCADE,
	id     BLOB NOT NULL,
	author BLOB NOT NULL,
	size   INTEGER NOT NULL,
	offset INTEGER NOT NULL,
	done   INTEGER NOT NULL,
	touched INTEGER NOT NULL, -- s since 1970 of the last chunk; 0 once done
	PRIMARY KEY (space, id)
) WITHOUT ROWID;
CREATE TABLE mailboxes (
	id      BLOB NOT NULL,
	n       INTEGER NOT NULL,
	message BLOB NOT NULL,
	until   INTEGER NOT NULL,
	PRIMARY KEY (id, n)
);
CREATE TABLE nonces (
	id    BLOB PRIMARY KEY,
	until INTEGER NOT NULL
) WITHOUT ROWID;
`}

func migrate(ctx context.Context, db *sql.DB) error {
	var have int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have > len(schemas) {
		return fmt.Errorf("tables of version %d: this program knows %d", have, len(schemas))
	}
	for v := have; v < len(schemas); v++ {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, schemas[v])
		if err == nil {
			_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", v+1))
		}
		if err == nil {
			err = tx.Commit()
		}
		if err != nil {
			_ = tx.Rollback() // the first error is the one that counts
			return fmt.Errorf("tables of version %d: %w", v+1, err)
		}
	}
	return nil
}
