-- Payouts by Stripe: what was asked for under which key, so that none is paid
-- twice after Stripe has forgotten the key.

-- +goose Up
CREATE TABLE stripe_transfers (
	key      text PRIMARY KEY,
	payee    text NOT NULL, -- a connected account
	minor    bigint NOT NULL CHECK (minor > 0),
	currency text NOT NULL,
	transfer text NOT NULL DEFAULT '', -- Stripe's id, once it is known
	declined text NOT NULL DEFAULT '' -- why it never will be paid
);

-- +goose Down
DROP TABLE stripe_transfers;
