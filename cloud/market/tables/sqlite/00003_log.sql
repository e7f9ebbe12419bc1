-- The transparency log: entries, the hashes of its tree as
-- golang.org/x/mod/sumdb/tlog numbers them, and the checkpoints that were
-- published. Nothing of the first two is ever changed.

-- +goose Up
CREATE TABLE log_size (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	n   INTEGER NOT NULL
) STRICT;
INSERT INTO log_size (one, n) VALUES (1, 0);

CREATE TABLE log_entries (
	n       INTEGER PRIMARY KEY, -- from 0
	kind    TEXT NOT NULL,
	subject TEXT NOT NULL,
	digest  BLOB NOT NULL,
	entry   BLOB NOT NULL, -- what is hashed
	UNIQUE (subject, kind, digest)
) STRICT;

CREATE TABLE log_hashes (
	n    INTEGER PRIMARY KEY,
	hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TABLE log_checkpoints (
	size INTEGER PRIMARY KEY,
	note TEXT NOT NULL, -- with the signatures of witnesses
	at   INTEGER NOT NULL -- ms since 1970
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER log_entries_stay BEFORE UPDATE ON log_entries BEGIN SELECT RAISE(ABORT, 'an entry of the log is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER log_entries_kept BEFORE DELETE ON log_entries BEGIN SELECT RAISE(ABORT, 'an entry of the log is never deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER log_hashes_stay BEFORE UPDATE ON log_hashes BEGIN SELECT RAISE(ABORT, 'a hash of the log is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER log_hashes_kept BEFORE DELETE ON log_hashes BEGIN SELECT RAISE(ABORT, 'a hash of the log is never deleted'); END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE log_checkpoints;
DROP TABLE log_hashes;
DROP TABLE log_entries;
DROP TABLE log_size;
