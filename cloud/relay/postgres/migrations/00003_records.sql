-- Checkpoints, and votes on them.

-- +goose Up
CREATE TABLE records (
	account bytea NOT NULL,
	space   bytea NOT NULL,
	id      bytea NOT NULL,
	n       bigint NOT NULL, -- in the order of their coming, given out under the space's lock
	about   bytea NOT NULL, -- the checkpoint
	record  bytea NOT NULL,
	PRIMARY KEY (account, space, id)
);
ALTER TABLE records ENABLE ROW LEVEL SECURITY;
ALTER TABLE records FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON records TO locket_relay USING (account = tenant()) WITH CHECK (account = tenant());
CREATE POLICY operator ON records FOR SELECT TO locket_operator USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON records TO locket_relay;
GRANT SELECT ON records TO locket_operator;

-- +goose Down
DROP TABLE records;
