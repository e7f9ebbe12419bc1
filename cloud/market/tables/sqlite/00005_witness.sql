-- What a witness has seen of each log that it watches, and what it caught.

-- +goose Up
CREATE TABLE witness_logs (
	origin TEXT PRIMARY KEY,
	size   INTEGER NOT NULL,
	note   TEXT NOT NULL -- the checkpoint, as the log signed it
) STRICT;

CREATE TABLE witness_forks (
	id       INTEGER PRIMARY KEY,
	origin   TEXT NOT NULL,
	evidence TEXT NOT NULL UNIQUE, -- JSON of sync/translog
	at       INTEGER NOT NULL -- ms since 1970
) STRICT;

-- +goose Down
DROP TABLE witness_forks;
DROP TABLE witness_logs;
