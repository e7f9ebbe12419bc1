-- Vouchers, by the hash of their codes, and who tried wrong ones.

-- +goose Up
CREATE TABLE vouchers (
	hash     bytea PRIMARY KEY, -- SHA-256 of the code's bytes
	batch    text NOT NULL,
	n        bigint NOT NULL,
	minor    bigint NOT NULL CHECK (minor > 0),
	currency text NOT NULL,
	until    bigint NOT NULL, -- ms since 1970
	used_by  text,
	used_at  bigint,
	revoked  bigint NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1)),
	UNIQUE (batch, n),
	CHECK ((used_by IS NULL) = (used_at IS NULL)),
	CHECK (used_by IS NULL OR revoked = 0)
);

CREATE TABLE voucher_tries (
	payer text PRIMARY KEY,
	since bigint NOT NULL, -- ms since 1970
	wrong bigint NOT NULL
);

-- +goose Down
DROP TABLE vouchers;
DROP TABLE voucher_tries;
