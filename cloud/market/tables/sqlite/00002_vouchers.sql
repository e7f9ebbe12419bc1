-- Vouchers, by the hash of their codes, and who tried wrong ones.

-- +goose Up
CREATE TABLE vouchers (
	hash     BLOB PRIMARY KEY, -- SHA-256 of the code's bytes
	batch    TEXT NOT NULL,
	n        INTEGER NOT NULL,
	minor    INTEGER NOT NULL CHECK (minor > 0),
	currency TEXT NOT NULL,
	until    INTEGER NOT NULL, -- ms since 1970
	used_by  TEXT,
	used_at  INTEGER,
	revoked  INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
	UNIQUE (batch, n),
	CHECK ((used_by IS NULL) = (used_at IS NULL)),
	CHECK (used_by IS NULL OR revoked = 0)
) STRICT;

CREATE TABLE voucher_tries (
	payer TEXT PRIMARY KEY,
	since INTEGER NOT NULL, -- ms since 1970
	wrong INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE vouchers;
DROP TABLE voucher_tries;
