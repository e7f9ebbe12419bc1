-- What a witness has seen of each log that it watches, and what it caught.

-- +goose Up
CREATE TABLE witness_logs (
	origin text PRIMARY KEY,
	size   bigint NOT NULL,
	note   text NOT NULL -- the checkpoint, as the log signed it
);

CREATE TABLE witness_forks (
	id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	origin   text NOT NULL,
	evidence text NOT NULL UNIQUE, -- JSON of sync/translog
	at       bigint NOT NULL -- ms since 1970
);

-- +goose Down
DROP TABLE witness_forks;
DROP TABLE witness_logs;
