-- The transparency log: entries, the hashes of its tree as
-- golang.org/x/mod/sumdb/tlog numbers them, and the checkpoints that were
-- published. Nothing of the first two is ever changed.

-- +goose Up
CREATE TABLE log_size (
	one bigint PRIMARY KEY CHECK (one = 1),
	n   bigint NOT NULL
);
INSERT INTO log_size (one, n) VALUES (1, 0);

CREATE TABLE log_entries (
	n       bigint PRIMARY KEY, -- from 0
	kind    text NOT NULL,
	subject text NOT NULL,
	digest  bytea NOT NULL,
	entry   bytea NOT NULL, -- what is hashed
	UNIQUE (subject, kind, digest)
);

CREATE TABLE log_hashes (
	n    bigint PRIMARY KEY,
	hash bytea NOT NULL CHECK (length(hash) = 32)
);

CREATE TABLE log_checkpoints (
	size bigint PRIMARY KEY,
	note text NOT NULL, -- with the signatures of witnesses
	at   bigint NOT NULL -- ms since 1970
);

-- +goose StatementBegin
CREATE FUNCTION log_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the log is never changed';
END $$;
-- +goose StatementEnd
CREATE TRIGGER log_entries_stay BEFORE UPDATE OR DELETE ON log_entries FOR EACH ROW EXECUTE FUNCTION log_refuse();
CREATE TRIGGER log_hashes_stay BEFORE UPDATE OR DELETE ON log_hashes FOR EACH ROW EXECUTE FUNCTION log_refuse();

-- +goose Down
DROP TABLE log_checkpoints;
DROP TABLE log_hashes;
DROP TABLE log_entries;
DROP TABLE log_size;
DROP FUNCTION log_refuse();
