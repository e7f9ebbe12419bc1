-- Payouts by Stripe: what was asked for under which key, so that none is paid
-- twice after Stripe has forgotten the key.

-- +goose Up
CREATE TABLE stripe_transfers (
	key      TEXT PRIMARY KEY,
	payee    TEXT NOT NULL, -- a connected account
	minor    INTEGER NOT NULL CHECK (minor > 0),
	currency TEXT NOT NULL,
	transfer TEXT NOT NULL DEFAULT '', -- Stripe's id, once it is known
	declined TEXT NOT NULL DEFAULT '' -- why it never will be paid
) STRICT;

-- +goose Down
DROP TABLE stripe_transfers;
