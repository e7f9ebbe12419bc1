-- +goose Up
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

-- +goose Down
DROP TABLE nonces;
DROP TABLE mailboxes;
DROP TABLE blobs;
DROP TABLE deltas;
DROP TABLE log;
DROP TABLE spaces;
DROP TABLE invites;
DROP TABLE accounts;
